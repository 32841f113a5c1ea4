#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0 {

/// What a discovery configuration discovers: the `role` of `kubernetes_sd_configs`.
enum class Role : std::uint8_t { node, pod, service, endpoints, endpointslice, ingress };

/// The names in `kubernetes_sd_configs`, in the order of Role.
inline constexpr std::array<std::string_view, 6> role_names{
    "node", "pod", "service", "endpoints", "endpointslice", "ingress"};

/// "node", "pod" and so on.
constexpr std::string_view to_string(Role role) noexcept {
    return role_names[static_cast<std::size_t>(role)];
}

/// The role of that name; nullopt if there is none. Exact, lower-case names only; see parse_role() in config_yaml.hpp for vmagent's alias.
constexpr std::optional<Role> role_from_string(std::string_view name) noexcept {
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        if (role_names[i] == name) return static_cast<Role>(i);
    }
    return std::nullopt;
}

}  // namespace k8s_sd::inline v0
