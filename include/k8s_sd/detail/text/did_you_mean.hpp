#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// " (did you mean role?)", or an empty text if no name is close to the word. For hand-written keys
/// and values; case-insensitive.
K8S_SD_EXPORT std::string did_you_mean(std::string_view word,
                                       std::span<const std::string_view> names);

}  // namespace k8s_sd::inline v0::detail
