#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
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

/// Consumes a character. As in Go, a byte outside well-formed UTF-8 is U+FFFD.
std::uint32_t take_character(std::string_view& text) {
    const std::size_t length = utf8_length(text);
    const std::uint32_t character = length == 0 ? 0xfffd : decode_utf8(text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
    return character;
}

/// Consumes one character of a range in a pattern. Returns nullopt if there is none.
std::optional<std::uint32_t> take_one_of_range(std::string_view& rest) {
    if (rest.starts_with('\\')) {
        rest.remove_prefix(1);
    } else if (rest.starts_with('-') || rest.starts_with(']')) {
        return std::nullopt;
    }
    if (rest.empty()) return std::nullopt;
    return take_character(rest);
}

/// Consumes a range after its "[". Returns whether the character is in it; nullopt if it is not a
/// range.
std::optional<bool> match_range(std::string_view& rest, std::uint32_t character) {
    const bool negated = rest.starts_with('^');
    if (negated) rest.remove_prefix(1);
    bool found = false;
    do {
        const auto low = take_one_of_range(rest);
        auto high = low;
        if (rest.starts_with('-')) {
            rest.remove_prefix(1);
            high = take_one_of_range(rest);
        }
        if (!low || !high) return std::nullopt;
        found = found || (*low <= character && character <= *high);
    } while (!rest.empty() && !rest.starts_with(']'));
    if (rest.empty()) return std::nullopt;
    rest.remove_prefix(1);
    return found != negated;
}

/// Whether Go's filepath.Match would accept it.
bool is_well_formed(std::string_view rest) {
    while (!rest.empty()) {
        const char first = rest.front();
        rest.remove_prefix(1);
        if (first == '[' && !match_range(rest, 0)) return false;
        if (first != '\\') continue;
        if (rest.empty()) return false;
        rest.remove_prefix(1);
    }
    return true;
}

/// Consumes a character of the name and its counterpart in the pattern, which does not begin with
/// "*". Returns false, with parts of both consumed, if they do not match.
bool match_one(std::string_view& pattern, std::string_view& name) {
    if (pattern.empty() || name.empty()) return false;
    const char first = pattern.front();
    if (first == '?' || first == '[') {
        pattern.remove_prefix(1);
        const std::uint32_t character = take_character(name);
        return first == '?' || match_range(pattern, character).value_or(false);
    }
    if (first == '\\') pattern.remove_prefix(1);
    if (pattern.empty()) return false;  // "\\" in front of a slash
    const bool equal = pattern.front() == name.front();
    pattern.remove_prefix(1);
    name.remove_prefix(1);
    return equal;
}

/// Whether a part of a path matches a well-formed pattern of Go's filepath.Match. Costs at most the
/// product of their sizes.
bool matches(std::string_view pattern, std::string_view name) {
    std::optional<std::string_view> behind_star;
    std::string_view left;  // may begin behind the characters of the last "*"
    for (;;) {
        if (pattern.starts_with('*')) {
            pattern.remove_prefix(1);
            behind_star = pattern;
            left = name;
            continue;
        }
        if (pattern.empty() && name.empty()) return true;
        if (match_one(pattern, name)) continue;
        if (!behind_star || left.empty()) return false;
        left.remove_prefix(1);
        pattern = *behind_star;
        name = left;
    }
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
            if (matches(pattern, name)) names.push_back(name);
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
