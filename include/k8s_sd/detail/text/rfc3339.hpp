#pragma once

#include "k8s_sd/detail/text/text.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Takes the next `digits` digits off `text`, as a number; -1 if there are fewer.
constexpr int take_number(std::string_view& text, std::size_t digits) noexcept {
    if (text.size() < digits) return -1;
    int value = 0;
    for (const char c : text.substr(0, digits)) {
        if (!is_digit(c)) return -1;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(digits);
    return value;
}

constexpr bool take_one_of(std::string_view& text, std::string_view characters) noexcept {
    if (text.empty() || characters.find(text[0]) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

/// The UTC offset at the end of a time of RFC 3339: "Z" or "+01:30".
constexpr std::optional<std::chrono::seconds> read_utc_offset(std::string_view text) noexcept {
    if (text == "Z" || text == "z") return std::chrono::seconds(0);
    const bool west = text.starts_with('-');
    if (!take_one_of(text, "+-")) return std::nullopt;
    const int hours = take_number(text, 2);
    if (!take_one_of(text, ":")) return std::nullopt;
    const int minutes = take_number(text, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !text.empty()) {
        return std::nullopt;
    }
    const std::chrono::seconds offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
    return west ? -offset : offset;
}

/// Parses a time such as "2006-01-02T15:04:05.999Z" and drops the fraction of its second; nullopt
/// for any other text.
constexpr std::optional<std::chrono::sys_seconds> read_rfc3339(std::string_view text) noexcept {
    namespace chrono = std::chrono;
    const int year = take_number(text, 4);
    if (!take_one_of(text, "-")) return std::nullopt;
    const int month = take_number(text, 2);
    if (!take_one_of(text, "-")) return std::nullopt;
    const int day = take_number(text, 2);
    if (!take_one_of(text, "Tt ")) return std::nullopt;
    const int hour = take_number(text, 2);
    if (!take_one_of(text, ":")) return std::nullopt;
    const int minute = take_number(text, 2);
    if (!take_one_of(text, ":")) return std::nullopt;
    const int second = take_number(text, 2);
    if (year < 0 || month < 1 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        second < 0 || second > 60) {
        return std::nullopt;
    }
    if (take_one_of(text, ".,")) {
        const std::size_t end = text.find_first_not_of("0123456789");
        if (end == 0 || end == std::string_view::npos) return std::nullopt;
        text.remove_prefix(end);
    }
    const auto offset = read_utc_offset(text);
    const chrono::year_month_day date{chrono::year(year),
                                      chrono::month(static_cast<unsigned>(month)),
                                      chrono::day(static_cast<unsigned>(day))};
    if (!offset || !date.ok()) return std::nullopt;
    return chrono::sys_days(date) + chrono::hours(hour) + chrono::minutes(minute) +
           chrono::seconds(second) - *offset;
}

/// Go's zero time, "0001-01-01T00:00:00Z". Go programs write it for an unset time.
constexpr std::chrono::sys_seconds go_zero_time =
    std::chrono::sys_days(std::chrono::year(1) / std::chrono::January / 1);

/// A time written by a Go program; nullopt for Go's zero time, too.
constexpr std::optional<std::chrono::sys_seconds> read_go_time(std::string_view text) noexcept {
    const auto time = read_rfc3339(text);
    return time == go_zero_time ? std::nullopt : time;
}

}  // namespace k8s_sd::inline v0::detail
