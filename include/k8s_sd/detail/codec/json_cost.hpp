#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// No text costs more a byte than this, see json_cost().
inline constexpr std::size_t max_json_cost_per_byte = 64;

/// How much memory Boost.JSON takes at most to make a value of the text, and while it does: two
/// bytes such as "0," can become 72. Takes no memory itself.
/// \returns nothing for what is no JSON
std::optional<std::size_t> json_cost(std::string_view text);

/// Whether the value of the text would take more than that. Does not look at texts so short that
/// none of them would.
inline bool costs_more_than(std::size_t limit, std::string_view text) {
    return text.size() > limit / max_json_cost_per_byte && json_cost(text).value_or(0) > limit;
}

}  // namespace k8s_sd::inline v0::detail
