#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0 {

// clang-format off
/// The roles, one row each: the enumerator, also its name in configurations; the kind with the
/// targets; the roles allowed in the selectors of such a configuration. This is the only list of
/// roles. A new role needs a row here, and RoleTraits in the file of its kind,
/// detail/kinds/<kind>.hpp. The macro is not for hosts.
#define K8S_SD_ROLES(ROW)                                                                     \
    /** Each node: its kubelet. */                                                            \
    ROW(node, node, node)                                                                     \
    /** Each port of each container of a pod. */                                              \
    ROW(pod, pod, pod, node)                                                                  \
    /** Each port of a service. */                                                            \
    ROW(service, service, service)                                                            \
    /** Each address and port behind a service, and the other ports of the pods there. */     \
    ROW(endpoints, endpoints, pod, service, endpoints)                                        \
    /** The same, read from EndpointSlices. */                                                \
    ROW(endpointslice, endpointslice, pod, service, endpointslice)                            \
    /** Each path of an ingress. */                                                           \
    ROW(ingress, ingress, ingress)                                                            \
    /* A new one goes here, at the end. */
// clang-format on

#define K8S_SD_ENUMERATOR(name, ...) name,
#define K8S_SD_NAME(name, ...) std::string_view(#name),

/// The kind of targets to discover: the `role` of `kubernetes_sd_configs`.
enum class Role : std::uint8_t { K8S_SD_ROLES(K8S_SD_ENUMERATOR) };

/// The names in `kubernetes_sd_configs`, indexed by Role.
inline constexpr std::array role_names{K8S_SD_ROLES(K8S_SD_NAME)};

#undef K8S_SD_ENUMERATOR
#undef K8S_SD_NAME

/// "node", "pod" and so on.
constexpr std::string_view to_string(Role role) noexcept {
    return role_names[static_cast<std::size_t>(role)];
}

/// The role with this name; nullopt if there is none. Exact, lower-case names only; see
/// parse_role() in config_yaml.hpp for vmagent's alias.
constexpr std::optional<Role> role_from_string(std::string_view name) noexcept {
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        if (role_names[i] == name) return static_cast<Role>(i);
    }
    return std::nullopt;
}

/// The program whose labels to produce, name for name and value for value.
enum class LabelDialect : std::uint8_t {
    prometheus,       ///< Prometheus 3.5 LTS
    victoriametrics,  ///< vmagent 1.145
};

/// "prometheus" or "victoriametrics".
constexpr std::string_view to_string(LabelDialect dialect) noexcept {
    return dialect == LabelDialect::prometheus ? "prometheus" : "victoriametrics";
}

/// The dialect with this name; nullopt if there is none.
constexpr std::optional<LabelDialect> dialect_from_string(std::string_view name) noexcept {
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        if (to_string(dialect) == name) return dialect;
    }
    return std::nullopt;
}

}  // namespace k8s_sd::inline v0
