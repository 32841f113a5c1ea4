#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The maximum cost of a text per byte, see json_cost().
inline constexpr std::size_t max_json_cost_per_byte = 64;

/// Upper bound of the memory Boost.JSON takes for the value of the text, including the peak during
/// parsing: two bytes such as "0," can become 72. Allocates nothing itself.
/// \returns nullopt if the text is not JSON
std::optional<std::size_t> json_cost(std::string_view text);

/// Whether the value of the text would take more than `limit` bytes. Texts too short to reach the
/// limit are not scanned.
inline bool costs_more_than(std::size_t limit, std::string_view text) {
    return text.size() > limit / max_json_cost_per_byte && json_cost(text).value_or(0) > limit;
}

}  // namespace k8s_sd::inline v0::detail
