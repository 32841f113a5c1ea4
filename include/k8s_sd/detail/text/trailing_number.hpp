#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The part after the last hyphen, as in pods of a StatefulSet: "3" of "agent-3" and of "3".
constexpr std::string_view last_part(std::string_view name) noexcept {
    return name.substr(name.rfind('-') + 1);
}

/// The number at the end of a name; nullopt if the last part is not a number.
inline std::optional<unsigned> trailing_number(std::string_view name) noexcept {
    const std::string_view digits = last_part(name);
    unsigned number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return number;
}

}  // namespace k8s_sd::inline v0::detail
