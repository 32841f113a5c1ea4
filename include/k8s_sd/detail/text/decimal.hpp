#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A number such as "-1.5" or "1e3", whatever the locale. Nothing for other text, and for a number
/// that no double can hold.
K8S_SD_EXPORT std::optional<double> parse_decimal(std::string_view text);

/// The shortest text of a number, as in Go: 1.25, not 1.25E0.
K8S_SD_EXPORT std::string decimal_text(double number);

}  // namespace k8s_sd::inline v0::detail
