#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/file_pattern.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace k8s_sd::inline v0::detail {

namespace {

std::string bytes_in_words(std::size_t bytes) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    if (bytes >= mib && bytes % mib == 0) return std::to_string(bytes / mib) + " MiB";
    return std::to_string(bytes) + " bytes";
}

/// Bounds the work for a pattern such as "/*/*/*/*".
constexpr std::size_t most_directory_entries_of_config = 100'000;

}  // namespace

bool is_file(const std::string& path) noexcept {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

std::string read_config_file(const std::string& path, const std::string& where,
                             std::size_t max_bytes) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        throw ConfigError(where, "cannot read " + printable(path) + ": it is a directory");
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        // The C++ library does not say why; errno is what open() left.
        throw ConfigError(where, "cannot read " + printable(path) + ": " + std::strerror(errno));
    }
    std::string content;
    char chunk[8192];
    while (file.read(chunk, sizeof chunk) || file.gcount() > 0) {
        content.append(chunk, static_cast<std::size_t>(file.gcount()));
        if (content.size() > max_bytes) {
            throw ConfigError(where,
                              printable(path) + " is larger than " + bytes_in_words(max_bytes));
        }
    }
    if (file.bad()) throw ConfigError(where, "cannot read " + printable(path));
    return content;
}

std::string path_beside(const std::string& file_name, const std::string& path) {
    return (std::filesystem::path(file_name).parent_path() / path).string();
}

std::vector<std::string> matching_files(const std::string& pattern) {
    std::vector<std::string> files = find_files(pattern, most_directory_entries_of_config).paths;
    std::sort(files.begin(), files.end());
    return files;
}

ConfigFiles::Found ConfigFiles::look(const std::string& path, std::size_t max_bytes) {
    try {
        return {read_config_file(path, path, max_bytes), {}};
    } catch (const ConfigError& e) {
        return {{}, e.problem()};
    }
}

const std::string& ConfigFiles::read(const std::string& path, const std::string& where) {
    const auto [file, is_new] = files_.try_emplace(path);
    if (is_new) {
        file->second = look(path, max_bytes_);
        if (file->second.text.size() > left_) {
            left_ = 0;
            throw ConfigError(where, "the files of the configuration are larger than " +
                                         bytes_in_words(max_bytes_));
        }
        left_ -= file->second.text.size();
    }
    if (!file->second.problem.empty()) throw ConfigError(where, file->second.problem);
    return file->second.text;
}

const std::vector<std::string>& ConfigFiles::matching(const std::string& pattern) {
    const auto [found, is_new] = patterns_.try_emplace(pattern);
    if (is_new) found->second = matching_files(pattern);
    return found->second;
}

bool ConfigFiles::changed() const {
    const auto same_file = [&](const auto& file) {
        return look(file.first, max_bytes_) == file.second;
    };
    const auto same_match = [](const auto& pattern) {
        return matching_files(pattern.first) == pattern.second;
    };
    return !std::all_of(patterns_.begin(), patterns_.end(), same_match) ||
           !std::all_of(files_.begin(), files_.end(), same_file);
}

}  // namespace k8s_sd::inline v0::detail
