#pragma once

#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <string_view>

/// The forms of names adopted by Kubernetes from DNS (RFC 1123).
namespace k8s_sd::inline v0::detail {

/// Lower-case letters, digits and inner hyphens.
constexpr bool is_dns_label_text(std::string_view text) noexcept {
    const auto plain = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); };
    return !text.empty() && plain(text.front()) && plain(text.back()) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-'; });
}

/// The form of the names of namespaces.
constexpr bool is_dns_label(std::string_view text) noexcept {
    return text.size() <= 63 && is_dns_label_text(text);
}

/// The form of the names of most objects and of the prefixes of label keys. Kubernetes limits only
/// the whole, not the parts between the dots to 63 characters.
constexpr bool is_dns_subdomain(std::string_view text) noexcept {
    if (text.size() > 253) return false;
    for (;;) {
        const std::size_t dot = text.find('.');
        if (!is_dns_label_text(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

}  // namespace k8s_sd::inline v0::detail
