#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/file_pattern.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// What a file of the configuration may have where nobody says otherwise.
inline constexpr std::size_t max_config_file_bytes = std::size_t{4} << 20;

/// The whole content of a file of the configuration.
/// \throws ConfigError where `where`: it does not exist, cannot be read, is a directory or exceeds
///         the limit. The text names the file, never its content.
K8S_SD_EXPORT std::string read_config_file(const std::string& path, const std::string& where,
                                           std::size_t max_bytes = max_config_file_bytes);

/// Whether there is nothing of this name, as far as can be seen.
bool is_missing(const std::string& path) noexcept;
/// Whether there is such a file that is not a directory.
bool is_file(const std::string& path) noexcept;

/// A path of a configuration file: relative ones are relative to the directory of that file.
K8S_SD_EXPORT std::string path_beside(const std::string& file_name, const std::string& path);

/// The files, sorted, whose paths match a pattern as of Go's filepath.Glob: `*`, `?` and `[a-z]`
/// in any part between slashes. A pattern without those matches the file it names, if there is one.
K8S_SD_EXPORT MatchingFiles matching_files(const std::string& pattern);

/// Reads the files of one configuration and remembers what it found. For one thread. It reads 1000
/// files at most, and looks for the files of as many patterns.
class K8S_SD_EXPORT ConfigFiles {
 public:
    /// \param max_bytes  of all files together
    explicit ConfigFiles(std::size_t max_bytes) : max_bytes_(max_bytes), left_(max_bytes) {}

    /// As read_config_file(). What exceeds the limit is not kept.
    const std::string& read(const std::string& path, const std::string& where);
    /// As matching_files().
    /// \throws ConfigError where `where`: there are too many patterns
    const MatchingFiles& matching(const std::string& pattern, const std::string& where);
    /// Looks again. Whether anything is otherwise than it was found.
    bool changed() const;

 private:
    /// The text of a file, or why there is none.
    struct Found {
        std::size_t limit = 0;  ///< that was left for it
        bool exceeds = false;   ///< that limit
        std::string text;
        std::string problem;
        friend bool operator==(const Found&, const Found&) = default;
    };
    Found look(const std::string& path, std::size_t limit) const;

    std::size_t max_bytes_;
    std::size_t left_;
    std::map<std::string, Found> files_;
    std::map<std::string, MatchingFiles> patterns_;
};

}  // namespace k8s_sd::inline v0::detail
