#include "k8s_sd/detail/monitors/byte_size.hpp"
#include "k8s_sd/detail/text/decimal.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Cuts a decimal number without exponent off the start of the text.
std::optional<double> cut_decimal(std::string_view& text) {
    std::size_t size = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    bool digits = false;
    while (size < text.size() && (is_digit(text[size]) || text[size] == '.')) {
        digits |= is_digit(text[size]);
        ++size;
    }
    const std::string_view number =
        text.substr(text.starts_with('+') ? 1 : 0, size - (text.starts_with('+') ? 1 : 0));
    const std::optional<double> value = parse_decimal(number);
    if (!digits || !value) return std::nullopt;
    text.remove_prefix(size);
    return value;
}

std::optional<double> quantity_factor(std::string_view suffix) {
    constexpr std::array<std::pair<std::string_view, double>, 16> factors{{
        {"", 1},
        {"n", 1e-9},
        {"u", 1e-6},
        {"m", 1e-3},
        {"k", 1e3},
        {"M", 1e6},
        {"G", 1e9},
        {"T", 1e12},
        {"P", 1e15},
        {"E", 1e18},
        {"Ki", 0x1p10},
        {"Mi", 0x1p20},
        {"Gi", 0x1p30},
        {"Ti", 0x1p40},
        {"Pi", 0x1p50},
        {"Ei", 0x1p60},
    }};
    for (const auto& [name, factor] : factors) {
        if (suffix == name) return factor;
    }
    if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
    suffix.remove_prefix(1);
    if (suffix.starts_with('+')) suffix.remove_prefix(1);
    int exponent = 0;
    const char* end = suffix.data() + suffix.size();
    const auto [last, error] = std::from_chars(suffix.data(), end, exponent);
    if (suffix.empty() || error != std::errc{} || last != end) return std::nullopt;
    return std::pow(10.0, exponent);
}

}  // namespace

std::optional<double> parse_byte_size(std::string_view text) {
    constexpr std::string_view units = "KMGTPE";
    const std::optional<double> number = cut_decimal(text);
    if (!number || *number < 0) return std::nullopt;
    if (text.empty()) return *number == 0 ? number : std::nullopt;
    if (!text.ends_with('B')) return std::nullopt;
    text.remove_suffix(1);
    if (text.empty()) return number;
    if (text.size() == 2 && text[1] == 'i') text.remove_suffix(1);
    const std::size_t unit = text.size() == 1 ? units.find(text[0]) : std::string_view::npos;
    if (unit == std::string_view::npos) return std::nullopt;
    return std::ldexp(*number, 10 * (static_cast<int>(unit) + 1));
}

std::optional<double> parse_quantity(std::string_view text) {
    const std::optional<double> number = cut_decimal(text);
    const std::optional<double> factor = number ? quantity_factor(text) : std::nullopt;
    if (!factor || !std::isfinite(*number * *factor)) return std::nullopt;
    return *number * *factor;
}

}  // namespace k8s_sd::inline v0::detail
