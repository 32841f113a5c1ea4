#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>

/// ASCII only: the C library's functions depend on the host's locale.
namespace k8s_sd::inline v0::detail {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_alphanumeric(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// \w of regular expressions.
constexpr bool is_word(char c) noexcept { return is_alphanumeric(c) || c == '_'; }
/// The value of a hexadecimal digit; 16 for every other character.
constexpr unsigned hex_value(char c) noexcept {
    if (is_digit(c)) return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
    return 16;
}

inline std::string lower_case(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

constexpr std::string_view trim(std::string_view text) noexcept {
    constexpr std::string_view space = " \t\r\n\v\f";
    const std::size_t first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// "a, b, c"
template <class Range>
std::string join(const Range& parts, std::string_view separator = ", ") {
    std::string result;
    bool first = true;
    for (const auto& part : parts) {
        if (!first) result += separator;
        first = false;
        result += part;
    }
    return result;
}

/// The text in double quotes, for messages.
inline std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

/// "30 s", "0.5 s".
inline std::string seconds_text(Duration time) {
    using Tenths = std::chrono::duration<std::int64_t, std::deci>;
    const auto tenths = std::chrono::round<Tenths>(time).count();
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) text.append(".").append(std::to_string(tenths % 10));
    return text + " s";
}

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
