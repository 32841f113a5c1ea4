#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/config/config_file.hpp"

#include <fnmatch.h>
#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace k8s_sd::inline v0::detail {

namespace {

namespace fs = std::filesystem;

bool is_absence(const std::error_code& error) {
    return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

/// Consumes one character of a range in a pattern. Returns false if there is none.
bool skip_one_of_range(std::string_view& rest) {
    if (rest.starts_with('\\')) {
        rest.remove_prefix(1);
    } else if (rest.starts_with('-') || rest.starts_with(']')) {
        return false;
    }
    if (rest.empty()) return false;
    rest.remove_prefix(1);
    return true;
}

/// Consumes a range after its "[". Returns false if it is not a range.
bool skip_range(std::string_view& rest) {
    if (rest.starts_with('^')) rest.remove_prefix(1);
    do {
        if (!skip_one_of_range(rest)) return false;
        if (!rest.starts_with('-')) continue;
        rest.remove_prefix(1);
        if (!skip_one_of_range(rest)) return false;
    } while (!rest.empty() && !rest.starts_with(']'));
    if (rest.empty()) return false;
    rest.remove_prefix(1);
    return true;
}

/// Whether Go's filepath.Match would accept it.
bool is_well_formed(std::string_view rest) {
    while (!rest.empty()) {
        const char first = rest.front();
        rest.remove_prefix(1);
        if (first == '[' && !skip_range(rest)) return false;
        if (first != '\\') continue;
        if (rest.empty()) return false;
        rest.remove_prefix(1);
    }
    return true;
}

/// Descends a path part by part.
class FileFinder {
 public:
    explicit FileFinder(std::size_t max_files) : left_(max_files) {}

    MatchingFiles find(const std::string& pattern) {
        std::vector<std::string> parts;
        std::string_view rest = pattern;
        const bool absolute = rest.starts_with('/');
        while (!rest.empty()) {
            const std::size_t slash = std::min(rest.find('/'), rest.size());
            if (slash > 0) parts.emplace_back(rest.substr(0, slash));
            rest.remove_prefix(std::min(slash + 1, rest.size()));
        }
        descend(absolute ? "/" : "", parts);
        return std::move(found_);
    }

 private:
    void descend(const std::string& base, std::span<const std::string> parts) {
        if (parts.empty()) return add(base);
        if (!is_file_pattern(parts.front())) {
            return descend(base + parts.front() + (parts.size() > 1 ? "/" : ""), parts.subspan(1));
        }
        for (const std::string& name : matching_names(base, parts.front())) {
            descend(base + name + (parts.size() > 1 ? "/" : ""), parts.subspan(1));
        }
    }

    void add(const std::string& path) {
        std::error_code error;
        const fs::file_status status = fs::symlink_status(path, error);
        if (status.type() == fs::file_type::not_found) return;
        if (error) return fail(path, error.message());
        found_.paths.push_back(path);
    }

    std::vector<std::string> matching_names(const std::string& base, const std::string& pattern) {
        std::vector<std::string> names;
        std::error_code error;
        const std::string directory = base.empty() ? "." : base;
        for (fs::directory_iterator it(directory, error), end; !error && it != end;
             it.increment(error)) {
            if (left_ == 0) {
                fail(directory, "there are too many files");
                break;
            }
            --left_;
            const std::string name = it->path().filename().string();
            if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) names.push_back(name);
        }
        if (error && !is_absence(error)) fail(directory, error.message());
        std::sort(names.begin(), names.end());
        return names;
    }

    void fail(const std::string& path, const std::string& reason) {
        if (found_.problem.empty()) found_.problem = "cannot look into " + path + ": " + reason;
    }

    MatchingFiles found_;
    std::size_t left_;
};

}  // namespace

bool is_file_pattern(std::string_view path) noexcept {
    return path.find_first_of("*?[\\") != std::string_view::npos;
}

MatchingFiles find_files(const std::string& pattern, std::size_t max_files) {
    // Bounds the memory and stack for the parts and their matches.
    if (pattern.size() > max_file_path_size) {
        return {{}, "a path of more than " + std::to_string(max_file_path_size) + " bytes"};
    }
    const BlockingCall waits;
    if (!is_well_formed(pattern)) return {{}, pattern + " is no pattern: a [ or \\ has no end"};
    return FileFinder(max_files).find(pattern);
}

}  // namespace k8s_sd::inline v0::detail
