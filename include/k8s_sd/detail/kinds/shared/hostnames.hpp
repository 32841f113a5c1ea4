#pragma once

#include <optional>
#include <string_view>

/// Hostnames of Gateway API: a name, a wildcard such as "*.example.com" for all names below
/// example.com at any depth, or an empty text for every name.
namespace k8s_sd::inline v0::detail {

/// Whether a wildcard covers the name or the other wildcard.
constexpr bool wildcard_covers(std::string_view wildcard, std::string_view other) noexcept {
    if (!wildcard.starts_with("*.")) return false;
    const std::string_view suffix = wildcard.substr(1);
    return other.size() > suffix.size() && other.ends_with(suffix);
}

/// The names that a listener and a route have in common: one of the two texts, because each of them
/// covers the other or nothing of it. nullopt: none.
constexpr std::optional<std::string_view> common_hostname(std::string_view listener,
                                                          std::string_view route) noexcept {
    if (listener.empty() || listener == route || wildcard_covers(listener, route)) return route;
    if (route.empty() || wildcard_covers(route, listener)) return listener;
    return std::nullopt;
}

}  // namespace k8s_sd::inline v0::detail
