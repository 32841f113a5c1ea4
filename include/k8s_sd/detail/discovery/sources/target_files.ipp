#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/discovery/sources/file_targets.hpp"
#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_directory_entries = 100'000;

bool is_gone(const std::string& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() ==
           std::filesystem::file_type::not_found;
}

TargetFileContent content_of(const TargetLists& lists, std::size_t hash) {
    TargetFileContent content;
    content.hash = hash;
    for (const StaticConfig& list : lists) {
        content.targets += list.targets.size();
        for (const std::string& target : list.targets) content.bytes += target.size();
        for (const auto& [name, value] : list.labels) content.bytes += name.size() + value.size();
    }
    return content;
}

class TargetFileReader {
 public:
    TargetFileReader(const FileSdConfig& config, const KnownTargetFiles& known,
                     TargetGroupMaker& maker)
        : config_(config), rules_(rules_of(config.dialect)), known_(known), maker_(maker) {}

    FileScan scan() {
        for (const std::string& pattern : config_.files) find_pattern(pattern);
        for (const std::string& path : fresh_) add(path);
        if (left_out_) {
            scan_.omissions.push_back("there are more than " + std::to_string(config_.max_files) +
                                      " files");
        }
        return std::move(scan_);
    }

 private:
    void find_pattern(const std::string& pattern) {
        MatchingFiles found = find_files(pattern, max_directory_entries);
        if (!found.problem.empty()) {
            scan_.omissions.push_back(printable(found.problem));
            add_known(found.paths);
        } else if (found.paths.empty() && !is_file_pattern(pattern)) {
            scan_.missing.push_back(printable(pattern));
        }
        // New files, of any pattern, must not displace known ones.
        for (const std::string& path : found.paths) {
            if (has_list(path)) {
                add(path);
            } else {
                fresh_.push_back(path);
            }
        }
    }

    void add(const std::string& path) {
        if (scan_.files.contains(path)) return;  // another pattern matches it, too
        left_out_ = left_out_ || scan_.files.size() == config_.max_files;
        if (!left_out_) scan_.files.emplace(path, read(path));
    }

    /// If a directory cannot be read, its known files count as present until shown missing.
    void add_known(std::vector<std::string>& paths) const {
        const std::set<std::string> found(paths.begin(), paths.end());
        for (const auto& [path, known] : known_) {
            if (has_list(path) && !found.contains(path) && !is_gone(path)) paths.push_back(path);
        }
    }

    bool has_list(const std::string& path) const {
        const auto known = known_.find(path);
        return known != known_.end() && known->second.list.hash != 0;
    }

    TargetFile read(const std::string& path) {
        TargetFile file;
        try {
            read(path, file);
        } catch (const TargetListTooLong& e) {
            file.over_limit = true;
            const bool is_first = targets_ == 0 && texts_ == 0;
            const std::string others =
                "together with the previous files it exceeds max_targets or max_bytes";
            file.problem = printable(path) + ": " + (is_first ? e.what() : others);
        } catch (const ConfigError& e) {
            // A YAML error already begins with the path.
            const std::string_view what = e.what();
            file.problem = printable(what.starts_with(path) ? what : path + ": " + e.what());
            file.content.mistake = file.problem;
        } catch (const std::exception& e) {
            file.problem = printable(path + ": " + e.what());
        }
        return file;
    }

    void read(const std::string& path, TargetFile& file) {
        const std::size_t left = config_.max_bytes - bytes_;
        const std::size_t max_bytes = std::min(config_.max_file_bytes, left);
        const auto content = read_secret_file(path, file.problem, max_bytes);
        if (!content) {
            std::error_code unknown;
            const std::uintmax_t size = std::filesystem::file_size(path, unknown);
            file.over_limit = !unknown && size > max_bytes;
            file.problem = printable("cannot read " + path + ": " + file.problem);
            if (left < config_.max_file_bytes) file.problem += " (max_bytes applies to all files)";
            return;
        }
        bytes_ += content->size();
        const std::string_view text = view(*content);
        file.content.hash = seeded_hash(text);
        const auto known = known_.find(path);
        if (known != known_.end() && known->second.bad.hash == file.content.hash) {
            file.content = known->second.bad;
            file.problem = file.content.mistake;
        } else if (known != known_.end() && known->second.list.hash == file.content.hash) {
            file.content = known->second.list;
            spend(file.content);
        } else {
            parse(path, text, file);
        }
    }

    void parse(const std::string& path, std::string_view text, TargetFile& file) {
        const TargetListLimits limits{config_.max_targets - targets_,
                                      std::min(config_.max_file_bytes, config_.max_bytes - texts_)};
        TargetLists lists = parse_file_list(text, path, rules_, limits);
        file.content = content_of(lists, file.content.hash);
        spend(file.content);
        file.groups =
            make_groups(std::move(lists), {path, "__meta_filepath", label_of(path)}, maker_);
    }

    /// \throws TargetListTooLong
    void spend(const TargetFileContent& content) {
        if (content.targets > config_.max_targets - targets_ ||
            content.bytes > config_.max_bytes - texts_) {
            throw TargetListTooLong("the list", "is too long");
        }
        targets_ += content.targets;
        texts_ += content.bytes;
    }

    std::string label_of(const std::string& path) const {
        std::string_view rest = path;
        if (!rules_.writes_relative_file_paths || config_.directory.empty()) return path;
        if (!rest.starts_with(config_.directory)) return path;
        rest.remove_prefix(config_.directory.size());
        if (rest.starts_with('/')) rest.remove_prefix(1);
        return std::string(rest);
    }

    const FileSdConfig& config_;
    const DialectRules& rules_;
    const KnownTargetFiles& known_;
    TargetGroupMaker& maker_;
    FileScan scan_;
    std::vector<std::string> fresh_;  ///< paths without a known list
    bool left_out_ = false;           ///< files beyond max_files
    std::size_t bytes_ = 0;           ///< of the files so far
    std::size_t targets_ = 0;         ///< in their lists
    std::size_t texts_ = 0;           ///< bytes of the texts in them
};

}  // namespace

FileScan scan_files(const FileSdConfig& config, const KnownTargetFiles& known,
                    TargetGroupMaker& maker) {
    return TargetFileReader(config, known, maker).scan();
}

}  // namespace k8s_sd::inline v0::detail
