#include "k8s_sd/detail/monitors/versions.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t version_parts = 3;

/// Dot-separated identifiers of letters, digits and hyphens.
bool are_version_identifiers(std::string_view text) {
    bool empty = true;
    for (const char c : text) {
        if (c == '.' && empty) return false;
        if (c != '.' && c != '-' && !is_alphanumeric(c)) return false;
        empty = c == '.';
    }
    return !empty;
}

std::optional<std::uint64_t> version_number(std::string_view digits) {
    std::uint64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, number);
    if (digits.empty() || error != std::errc{} || last != end) return std::nullopt;
    return number;
}

/// Splits what follows the patch number, "-rc.1+meta", from the text.
/// \returns nullopt if it is malformed
std::optional<bool> cut_pre_release(std::string_view& text) {
    const std::size_t meta = text.find('+');
    if (meta != std::string_view::npos) {
        if (!are_version_identifiers(text.substr(meta + 1))) return std::nullopt;
        text = text.substr(0, meta);
    }
    const std::size_t hyphen = text.find('-');
    if (hyphen == std::string_view::npos) return false;
    if (!are_version_identifiers(text.substr(hyphen + 1))) return std::nullopt;
    text = text.substr(0, hyphen);
    return true;
}

}  // namespace

std::optional<MonitorVersion> parse_monitor_version(std::string_view text) {
    text = trim(text);
    if (text.starts_with('v')) text.remove_prefix(1);
    const auto suffix = std::min(text.find_first_of("-+"), text.size());
    const auto dots =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(suffix), '.');
    // Only a complete version may have a suffix.
    if (suffix != text.size() && dots + 1 != version_parts) return std::nullopt;
    const std::optional<bool> pre_release = cut_pre_release(text);
    if (!pre_release) return std::nullopt;

    std::array<std::uint64_t, version_parts> numbers{};
    for (std::size_t i = 0;; ++i) {
        const std::size_t dot = text.find('.');
        const auto number = version_number(text.substr(0, dot));
        if (!number || i == numbers.size()) return std::nullopt;
        numbers[i] = *number;
        if (dot == std::string_view::npos) break;
        text.remove_prefix(dot + 1);
    }
    return MonitorVersion{numbers[0], numbers[1], numbers[2], *pre_release};
}

}  // namespace k8s_sd::inline v0::detail
