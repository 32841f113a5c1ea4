#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The control characters of ASCII.
constexpr bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// Foreign text in a message: one line of printable characters in UTF-8, not too long.
K8S_SD_EXPORT std::string printable(std::string_view text);

}  // namespace k8s_sd::inline v0::detail
