#pragma once

#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The bytes of "0", "512KB", "1.5MiB": the units are powers of 1024, with or without `i`.
/// \returns nullopt for other texts
std::optional<double> parse_byte_size(std::string_view text);

/// A Kubernetes quantity ("1.2", "1200m", "1Ki", "12e-1") as a number.
/// \returns nullopt for other texts
std::optional<double> parse_quantity(std::string_view text);

}  // namespace k8s_sd::inline v0::detail
