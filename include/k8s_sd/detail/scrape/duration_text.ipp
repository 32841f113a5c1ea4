#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>

namespace k8s_sd::inline v0 {

namespace {

using std::chrono::milliseconds;

struct Unit {
    std::string_view name;
    std::int64_t milliseconds;
    bool whole_only;  ///< when writing: only where nothing is left over
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

/// Prometheus keeps durations in 64 bits of nanoseconds.
constexpr std::int64_t longest = INT64_MAX / 1'000'000;

[[noreturn]] void refuse(const std::string& problem) { throw ConfigError("duration", problem); }

/// An integer, with the digits of a fraction if there is one.
struct Number {
    std::int64_t whole = 0;
    std::string_view fraction;

    /// Of a unit that has so many milliseconds; less than one is cut off.
    std::int64_t milliseconds(std::int64_t unit) const {
        if (whole > longest / unit) refuse("is too long");
        const std::int64_t sum = whole * unit;
        // Seven digits, so that the product stays within 64 bits.
        std::int64_t digits = 0;
        std::int64_t scale = 1;
        for (const char digit : fraction.substr(0, 7)) {
            digits = digits * 10 + (digit - '0');
            scale *= 10;
        }
        return sum + digits * unit / scale;
    }
};

Number take_number(std::string_view& text, bool fractions) {
    Number number;
    const char* const end = text.data() + text.size();
    auto [next, error] = std::from_chars(text.data(), end, number.whole);
    if (error == std::errc::result_out_of_range) refuse("is too long");
    if (error != std::errc{} || number.whole < 0) {
        refuse("is not a duration; it must look like 30s, 1m30s or 500ms");
    }
    if (fractions && next != end && *next == '.') {
        const char* const first = next + 1;
        const char* last = first;
        while (last != end && detail::is_digit(*last)) ++last;
        number.fraction = {first, static_cast<std::size_t>(last - first)};
        next = last;
    }
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

/// The place in `units`.
std::size_t find_unit(std::string_view name) {
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (units[i].name == name) return i;
    }
    refuse(name.empty() ? "lacks a unit; allowed are y, w, d, h, m, s, ms"
                        : "has an unknown unit; allowed are y, w, d, h, m, s, ms");
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
    const bool lax = detail::rules_of(dialect).reads_lax_durations;
    if (text.empty()) refuse("is empty");
    if (text == "0") return milliseconds{0};
    std::int64_t sum = 0;
    std::optional<std::size_t> previous;
    while (!text.empty()) {
        const Number number = take_number(text, lax);
        const std::string_view name = take_unit(text);
        const std::size_t unit = find_unit(lax && name.empty() ? "s" : name);
        if (!lax && previous && unit <= *previous) {
            refuse("must name its units from long to short, once each");
        }
        previous = unit;
        const std::int64_t part = number.milliseconds(units[unit].milliseconds);
        if (part > longest - sum) refuse("is too long");
        sum += part;
    }
    return milliseconds{sum};
}

std::string format_duration(milliseconds duration, LabelDialect dialect) {
    const bool as_go = detail::rules_of(dialect).writes_durations_as_go;
    return as_go ? format_as_go(duration.count()) : format_as_prometheus(duration.count());
}

}  // namespace k8s_sd::inline v0
