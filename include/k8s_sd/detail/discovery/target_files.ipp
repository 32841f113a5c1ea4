#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/detail/config/file_pattern.hpp"
#include "k8s_sd/detail/discovery/target_files.hpp"
#include "k8s_sd/detail/discovery/target_list.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t most_directory_entries = 100'000;

class TargetFileReader {
 public:
    TargetFileReader(const FileSdConfig& config, const FileHashes& known, TargetGroupMaker& maker)
        : config_(config), rules_(rules_of(config.dialect)), known_(known), maker_(maker) {}

    FileLook look() {
        for (std::size_t i = 0; i < config_.files.size(); ++i) look_for(i);
        return std::move(look_);
    }

 private:
    void look_for(std::size_t index) {
        const std::string& pattern = config_.files[index];
        MatchingFiles found = find_files(pattern, most_directory_entries);
        if (!found.problem.empty()) look_.patterns.emplace(index, printable(found.problem));
        if (found.paths.empty() && found.problem.empty() && !is_file_pattern(pattern)) {
            look_.missing.push_back(printable(pattern));
        }
        for (const std::string& path : found.paths) {
            if (look_.files.contains(path)) continue;  // another pattern has it, too
            if (look_.files.size() == config_.max_files) {
                look_.patterns.emplace(index, "there are more than " +
                                                  std::to_string(config_.max_files) + " files");
                return;
            }
            look_.files.emplace(path, read(index, path));
        }
    }

    TargetFile read(std::size_t pattern, const std::string& path) {
        TargetFile file;
        file.pattern = pattern;
        try {
            read(path, file);
        } catch (const std::exception& e) {
            // The text of a ConfigError for YAML begins with the path already.
            const std::string_view what = e.what();
            file.problem = printable(what.starts_with(path) ? what : path + ": " + e.what());
        }
        return file;
    }

    void read(const std::string& path, TargetFile& file) {
        const std::size_t most = std::min(config_.max_file_bytes,
                                          config_.max_bytes - std::min(bytes_, config_.max_bytes));
        const auto content = read_secret_file(path, file.problem, most);
        if (!content) {
            file.problem = printable("cannot read " + path + ": " + file.problem);
            return;
        }
        bytes_ += content->size();
        const std::string_view text = view(*content);
        file.hash = seeded_hash(text);
        const auto known = known_.find(path);
        if (known != known_.end() && known->second == file.hash) return;
        TargetLists lists =
            parse_file_list(text, path, rules_, {config_.max_targets, config_.max_file_bytes});
        file.groups =
            make_groups(std::move(lists), {path, "__meta_filepath", label_of(path)}, maker_);
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
    const FileHashes& known_;
    TargetGroupMaker& maker_;
    FileLook look_;
    std::size_t bytes_ = 0;
};

}  // namespace

FileLook look_at_files(const FileSdConfig& config, const FileHashes& known,
                       TargetGroupMaker& maker) {
    return TargetFileReader(config, known, maker).look();
}

}  // namespace k8s_sd::inline v0::detail
