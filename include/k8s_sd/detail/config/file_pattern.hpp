#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

struct MatchingFiles {
    std::vector<std::string> paths;  ///< in the order of their names
    std::string problem;             ///< why that may not be all of them; empty: it is
    friend bool operator==(const MatchingFiles&, const MatchingFiles&) = default;
};

/// Whether the path holds one of `*?[\`, which make it a pattern.
K8S_SD_EXPORT bool is_file_pattern(std::string_view path) noexcept;

/// Longer ones name no file.
inline constexpr std::size_t longest_file_path = 4095;

/// What exists by that name, or matches the pattern: each part as fnmatch() does it, where `*` also
/// matches a name that begins with a dot. What is not there is no problem. Blocks.
/// \param most  entries of directories that are looked at
MatchingFiles find_files(const std::string& pattern, std::size_t most);

}  // namespace k8s_sd::inline v0::detail
