#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The default limit of a configuration file.
inline constexpr std::size_t max_config_file_bytes = std::size_t{4} << 20;

/// The whole content of a configuration file.
/// \throws ConfigError where `where`: it does not exist, cannot be read, is a directory or exceeds
///         the limit. The text names the file, never its content.
K8S_SD_EXPORT std::string read_config_file(const std::string& path, const std::string& where,
                                           std::size_t max_bytes = max_config_file_bytes);

/// Whether the path does not exist, as far as permissions allow to see.
bool is_missing(const std::string& path) noexcept;
/// Whether the path exists and is not a directory.
bool is_file(const std::string& path) noexcept;

/// Resolves a path in a configuration file relative to the directory of that file.
K8S_SD_EXPORT std::string path_beside(const std::string& file_name, const std::string& path);

struct MatchingFiles {
    std::vector<std::string> paths;  ///< in the order of their names
    std::string problem;             ///< why paths may be missing; empty: none are
    friend bool operator==(const MatchingFiles&, const MatchingFiles&) = default;
};

/// Whether the path is a pattern, with at least one of `*?[\`.
K8S_SD_EXPORT bool is_file_pattern(std::string_view path) noexcept;

/// A longer path cannot name a file.
inline constexpr std::size_t max_file_path_size = 4095;

/// The existing file of that name, or the matches of the pattern: each part as in Go's
/// filepath.Match(). A missing file is not a problem. Blocks.
/// \param max_files  maximum number of directory entries to visit
MatchingFiles find_files(const std::string& pattern, std::size_t max_files);

/// The files matching a pattern of Go's filepath.Glob, sorted: `*`, `?` and `[a-z]` in any part
/// between slashes. A pattern without those matches the named file, if it exists.
K8S_SD_EXPORT MatchingFiles matching_files(const std::string& pattern);

/// Reads the files of one configuration and caches the results. For one thread. At most 1000 files
/// and as many patterns.
class K8S_SD_EXPORT ConfigFiles {
 public:
    /// \param max_bytes  sum over all files
    explicit ConfigFiles(std::size_t max_bytes) : max_bytes_(max_bytes), left_(max_bytes) {}

    /// Like read_config_file(). Content beyond the limit is not stored.
    const std::string& read(const std::string& path, const std::string& where);
    /// As matching_files().
    /// \throws ConfigError where `where`: there are too many patterns
    const MatchingFiles& matching(const std::string& pattern, const std::string& where);
    /// Reads everything again. \returns whether any result differs
    bool changed() const;

 private:
    /// The text of a file, or the problem of reading it.
    struct Found {
        std::size_t limit = 0;  ///< remaining bytes at the time of reading
        bool exceeds = false;   ///< larger than the limit
        std::string text;
        std::string problem;
        friend bool operator==(const Found&, const Found&) = default;
    };
    Found inspect(const std::string& path, std::size_t limit) const;

    std::size_t max_bytes_;
    std::size_t left_;
    std::map<std::string, Found> files_;
    std::map<std::string, MatchingFiles> patterns_;
};

}  // namespace k8s_sd::inline v0::detail
