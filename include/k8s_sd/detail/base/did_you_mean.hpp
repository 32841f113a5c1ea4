#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// " (did you mean role?)", or nothing if no name is near to the word. For keys and values that
/// people write; upper and lower case are the same.
K8S_SD_EXPORT std::string did_you_mean(std::string_view word,
                                       std::span<const std::string_view> names);

}  // namespace k8s_sd::inline v0::detail
