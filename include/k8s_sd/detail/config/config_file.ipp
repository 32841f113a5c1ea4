#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::string bytes_in_words(std::size_t bytes) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    if (bytes >= mib && bytes % mib == 0) return std::to_string(bytes / mib) + " MiB";
    return std::to_string(bytes) + " bytes";
}

/// Bounds the work for a pattern such as "/*/*/*/*".
constexpr std::size_t max_config_directory_entries = 100'000;
constexpr std::size_t max_config_files = 1'000;

std::string larger_than(const std::string& what, std::size_t bytes) {
    return what + " larger than " + bytes_in_words(bytes);
}

/// nullopt if it is larger. \throws ConfigError with the name of the file in its problem
std::optional<std::string> read_up_to(const std::string& path, std::size_t max_bytes) {
    const BlockingCall waits;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        throw ConfigError(path, "cannot read " + printable(path) + ": it is a directory");
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        // The C++ library does not report the reason; errno is still that of open().
        throw ConfigError(path, "cannot read " + printable(path) + ": " + std::strerror(errno));
    }
    std::string content;
    char chunk[8192];
    while (file.read(chunk, sizeof chunk) || file.gcount() > 0) {
        content.append(chunk, static_cast<std::size_t>(file.gcount()));
        if (content.size() > max_bytes) return std::nullopt;
    }
    if (file.bad()) throw ConfigError(path, "cannot read " + printable(path));
    return content;
}

/// \param problem  names the file; `where` may name it already
[[noreturn]] void throw_problem(const std::string& where, const std::string& path,
                                const std::string& problem) {
    const std::string name = printable(path);
    if (where != path && where != name) throw ConfigError(where, problem);
    const std::string unreadable = "cannot read " + name;
    if (problem.starts_with(unreadable)) {
        throw ConfigError(where, "cannot be read" + problem.substr(unreadable.size()));
    }
    if (problem.starts_with(name + " ")) throw ConfigError(where, problem.substr(name.size() + 1));
    throw ConfigError(where, problem);
}

}  // namespace

bool is_file(const std::string& path) noexcept {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

bool is_missing(const std::string& path) noexcept {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return !std::filesystem::exists(status) && error == std::errc::no_such_file_or_directory;
}

std::string read_config_file(const std::string& path, const std::string& where,
                             std::size_t max_bytes) {
    try {
        if (auto content = read_up_to(path, max_bytes)) return *std::move(content);
    } catch (const ConfigError& e) {
        throw_problem(where, path, e.problem());
    }
    throw_problem(where, path, larger_than(printable(path) + " is", max_bytes));
}

std::string path_beside(const std::string& file_name, const std::string& path) {
    return (std::filesystem::path(file_name).parent_path() / path).string();
}

MatchingFiles matching_files(const std::string& pattern) {
    MatchingFiles found = find_files(pattern, max_config_directory_entries);
    std::sort(found.paths.begin(), found.paths.end());
    if (found.paths.size() > max_config_files) {
        found = {{}, "matches more than " + std::to_string(max_config_files) + " files"};
    }
    return found;
}

ConfigFiles::Found ConfigFiles::inspect(const std::string& path, std::size_t limit) const {
    try {
        if (auto text = read_up_to(path, limit)) return {limit, false, *std::move(text), {}};
    } catch (const ConfigError& e) {
        return {limit, false, {}, e.problem()};
    }
    return {limit,
            true,
            {},
            limit == max_bytes_ ? larger_than(printable(path) + " is", max_bytes_)
                                : larger_than("the files of the configuration are", max_bytes_)};
}

const std::string& ConfigFiles::read(const std::string& path, const std::string& where) {
    auto file = files_.find(path);
    if (file == files_.end()) {
        if (files_.size() == max_config_files) {
            throw ConfigError(where, "the configuration has more than " +
                                         std::to_string(max_config_files) + " files");
        }
        file = files_.emplace(path, inspect(path, left_)).first;
        left_ = file->second.exceeds ? 0 : left_ - file->second.text.size();
    }
    if (!file->second.problem.empty()) throw_problem(where, path, file->second.problem);
    return file->second.text;
}

const MatchingFiles& ConfigFiles::matching(const std::string& pattern, const std::string& where) {
    auto found = patterns_.find(pattern);
    if (found == patterns_.end()) {
        if (patterns_.size() == max_config_files) {
            throw ConfigError(where, "the configuration has more than " +
                                         std::to_string(max_config_files) + " names of files");
        }
        found = patterns_.emplace(pattern, matching_files(pattern)).first;
    }
    return found->second;
}

bool ConfigFiles::changed() const {
    const auto same_file = [&](const auto& file) {
        return inspect(file.first, file.second.limit) == file.second;
    };
    const auto same_match = [](const auto& pattern) {
        return matching_files(pattern.first) == pattern.second;
    };
    return !std::all_of(patterns_.begin(), patterns_.end(), same_match) ||
           !std::all_of(files_.begin(), files_.end(), same_file);
}

}  // namespace k8s_sd::inline v0::detail
