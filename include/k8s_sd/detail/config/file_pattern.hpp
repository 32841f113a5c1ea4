#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

struct MatchingFiles {
    std::vector<std::string> paths;  ///< in the order of their names
    std::string problem;             ///< why paths may be missing; empty: none are
    friend bool operator==(const MatchingFiles&, const MatchingFiles&) = default;
};

/// Whether the path is a pattern, with at least one of `*?[\`.
K8S_SD_EXPORT bool is_file_pattern(std::string_view path) noexcept;

/// A longer path cannot name a file.
inline constexpr std::size_t max_file_path_size = 4095;

/// The existing file of that name, or the matches of the pattern: each part as in fnmatch(), except
/// that `*` also matches a name with a leading dot. A missing file is not a problem. Blocks.
/// \param most  maximum number of directory entries to visit
MatchingFiles find_files(const std::string& pattern, std::size_t most);

}  // namespace k8s_sd::inline v0::detail
