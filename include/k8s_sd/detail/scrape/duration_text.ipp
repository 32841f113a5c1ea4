#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/text/decimal.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>

namespace k8s_sd::inline v0 {

namespace {

using std::chrono::milliseconds;

struct Unit {
    std::string_view name;
    std::int64_t milliseconds;
    bool whole_only;  ///< for output: only without a remainder
};

constexpr std::int64_t second = 1000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;
constexpr std::array<Unit, 7> units{{{"y", 365 * day, true},
                                     {"w", 7 * day, true},
                                     {"d", day, false},
                                     {"h", hour, false},
                                     {"m", minute, false},
                                     {"s", second, false},
                                     {"ms", 1, false}}};

/// Prometheus stores durations as nanoseconds in 64 bits.
constexpr std::int64_t max_milliseconds = INT64_MAX / 1'000'000;

[[noreturn]] void refuse(const std::string& problem) { throw ConfigError("duration", problem); }

constexpr const char* no_duration = "is not a duration; it must look like 30s, 1m30s or 500ms";

// Prometheus' syntax.

std::int64_t take_integer(std::string_view& text) {
    // std::from_chars() takes a sign.
    if (!detail::is_digit(text.front())) refuse(no_duration);
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{}) refuse("is too long");
    text.remove_prefix(static_cast<std::size_t>(next - text.data()));
    return number;
}

std::string_view take_unit(std::string_view& text) {
    std::size_t length = 0;
    while (length < text.size() && !detail::is_digit(text[length])) ++length;
    const std::string_view name = text.substr(0, length);
    text.remove_prefix(length);
    return name;
}

/// The index in `units`.
std::size_t find_unit(std::string_view name) {
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (units[i].name == name) return i;
    }
    refuse(name.empty() ? "lacks a unit; allowed are y, w, d, h, m, s, ms"
                        : "has an unknown unit; allowed are y, w, d, h, m, s, ms");
}

std::int64_t parse_as_prometheus(std::string_view text) {
    if (text == "0") return 0;
    std::int64_t sum = 0;
    std::optional<std::size_t> previous;
    while (!text.empty()) {
        const std::int64_t number = take_integer(text);
        const std::size_t unit = find_unit(take_unit(text));
        if (previous && unit <= *previous) {
            refuse("must name its units from long to short, once each");
        }
        previous = unit;
        if (number > max_milliseconds / units[unit].milliseconds) refuse("is too long");
        const std::int64_t part = number * units[unit].milliseconds;
        if (part > max_milliseconds - sum) refuse("is too long");
        sum += part;
    }
    return sum;
}

// vmagent's syntax: MetricsQL's DurationValue, computed in floating point.

/// nullopt: not a number, or out of range.
std::optional<double> decimal_number(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    return detail::parse_decimal(text);
}

/// Removes a number such as "-1.5" from the front: a sign, digits, a point and digits.
std::string_view take_decimal(std::string_view& text) {
    std::size_t length = text.starts_with('-') ? 1 : 0;
    const auto take_digits = [&] {
        while (length < text.size() && detail::is_digit(text[length])) ++length;
    };
    take_digits();
    if (length == 0) refuse(no_duration);
    if (length < text.size() && text[length] == '.') {
        ++length;
        take_digits();
    }
    const std::string_view number = text.substr(0, length);
    text.remove_prefix(length);
    return number;
}

/// Seconds per unit, case-insensitive except for `M`, a million.
double take_metricsql_unit(std::string_view& text) {
    const std::string two = detail::lower_case(text.substr(0, 2));
    if (two == "ms") {
        text.remove_prefix(2);
        return 1e-3;
    }
    const std::string one = two.substr(0, 1);
    const bool is_number = two == "mi" || two == "mb" || text.starts_with('M');
    if (is_number || one.empty()) refuse(no_duration);
    text.remove_prefix(1);
    // The step of a query; there is none.
    if (one == "i") return 0;
    return static_cast<double>(units[find_unit(one)].milliseconds) / second;
}

std::int64_t parse_as_vmagent(std::string_view text) {
    double sum = 0;
    const bool may_be_number = detail::is_digit(text.back()) || text.back() == '.';
    const std::optional<double> seconds = may_be_number ? decimal_number(text) : std::nullopt;
    if (seconds) {
        sum = *seconds * second;
    } else {
        bool negative = false;
        while (!text.empty()) {
            const std::optional<double> number = decimal_number(take_decimal(text));
            if (!number) refuse(no_duration);
            double part = take_metricsql_unit(text) * *number * second;
            if (negative && part > 0) part = -part;
            negative = negative || part < 0;
            sum += part;
        }
    }
    if (!(std::abs(sum) <= static_cast<double>(max_milliseconds))) refuse("is too long");
    return static_cast<std::int64_t>(sum);
}

std::string format_as_prometheus(std::int64_t rest) {
    std::string text;
    for (const Unit& unit : units) {
        if (unit.whole_only && rest % unit.milliseconds != 0) continue;
        const std::int64_t number = rest / unit.milliseconds;
        if (number == 0) continue;
        text += std::to_string(number);
        text += unit.name;
        rest %= unit.milliseconds;
    }
    return text.empty() ? "0s" : text;
}

/// Seconds, with a fraction without trailing zeros.
std::string decimal_seconds(std::int64_t value) {
    std::string text = std::to_string(value / second);
    if (value % second == 0) return text + "s";
    std::string fraction = std::to_string(second + value % second).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return text + "." + fraction + "s";
}

std::string format_as_go(std::int64_t value) {
    if (value == 0) return "0s";
    if (value < second) return std::to_string(value) + "ms";
    std::string text;
    if (value >= hour) text += std::to_string(value / hour) + "h";
    if (value >= minute) text += std::to_string(value % hour / minute) + "m";
    return text + decimal_seconds(value % minute);
}

}  // namespace

milliseconds parse_duration(std::string_view text, LabelDialect dialect) {
    if (text.empty()) refuse("is empty");
    const bool lax = detail::rules_of(dialect).reads_lax_durations;
    return milliseconds{lax ? parse_as_vmagent(text) : parse_as_prometheus(text)};
}

std::string format_duration(milliseconds duration, LabelDialect dialect) {
    const bool as_go = detail::rules_of(dialect).writes_durations_as_go;
    return as_go ? format_as_go(duration.count()) : format_as_prometheus(duration.count());
}

}  // namespace k8s_sd::inline v0
