#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace k8s_sd {

/// What a discovery configuration discovers: the `role` of `kubernetes_sd_configs`.
enum class Role : std::uint8_t { node, pod, service, endpoints, endpointslice, ingress };

inline constexpr std::array<std::string_view, 6> role_names{
    "node", "pod", "service", "endpoints", "endpointslice", "ingress"};

constexpr std::string_view to_string(Role role) noexcept {
    return role_names[static_cast<std::size_t>(role)];
}

/// Exact, lower-case names only; see parse_role() in config_yaml.hpp for vmagent's alias.
constexpr std::optional<Role> role_from_string(std::string_view name) noexcept {
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        if (role_names[i] == name) return static_cast<Role>(i);
    }
    return std::nullopt;
}

/// Whose labels to produce, name for name and value for value.
enum class LabelDialect : std::uint8_t {
    prometheus,       ///< Prometheus 3.5 LTS
    victoriametrics,  ///< vmagent 1.145
};

constexpr std::string_view to_string(LabelDialect dialect) noexcept {
    return dialect == LabelDialect::prometheus ? "prometheus" : "victoriametrics";
}

constexpr std::optional<LabelDialect> dialect_from_string(std::string_view name) noexcept {
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        if (to_string(dialect) == name) return dialect;
    }
    return std::nullopt;
}

}  // namespace k8s_sd
