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
    /** Each listener of a gateway. Roles of Gateway API are an experiment: Prometheus has    \
     *  not decided on their labels yet, and vmagent has no such roles. */                    \
    ROW(gateway, gateway, gateway)                                                            \
    /** Each hostname and path of an HTTPRoute, at each listener that it is attached to. */   \
    ROW(httproute, httproute, httproute, gateway)                                             \
    /** Each hostname and method of a GRPCRoute, likewise. An experiment, too. */             \
    ROW(grpcroute, grpcroute, grpcroute, gateway)                                             \
    /** Each hostname of a TLSRoute, likewise. An experiment, too. */                         \
    ROW(tlsroute, tlsroute, tlsroute, gateway)                                                \
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
    prometheus,       ///< Prometheus, of the PrometheusVersion of the configuration
    victoriametrics,  ///< vmagent 1.145
};

/// "prometheus" or "victoriametrics".
constexpr std::string_view to_string(LabelDialect dialect) noexcept {
    return dialect == LabelDialect::prometheus ? "prometheus" : "victoriametrics";
}

/// The release of Prometheus with the targets and labels to produce; only LabelDialect::prometheus
/// has versions. docs/guide/labels.md lists the differences. Options of a later version, such as
/// entries of attach_metadata, are accepted with each version.
enum class PrometheusVersion : std::uint8_t {
    v3_5,  ///< the LTS release: that of the recorded targets in the tests
    v3_6,
    v3_7,
    v3_8,
    v3_9,
    v3_10,
    v3_11,
    v3_12,
    v3_13,
    v3_14,
    v3_15,  ///< as merged in August 2026, before its release
};

/// The names of the versions, indexed by PrometheusVersion.
inline constexpr std::array<std::string_view, 11> prometheus_version_names{
    "3.5", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"};

/// "3.5", "3.6" and so on.
constexpr std::string_view to_string(PrometheusVersion version) noexcept {
    return prometheus_version_names[static_cast<std::size_t>(version)];
}

/// The version with this name; nullopt if there is none. See parse_prometheus_version() in
/// config_yaml.hpp for errors.
constexpr std::optional<PrometheusVersion> prometheus_version_from_string(
    std::string_view name) noexcept {
    for (std::size_t i = 0; i < prometheus_version_names.size(); ++i) {
        if (prometheus_version_names[i] == name) return static_cast<PrometheusVersion>(i);
    }
    return std::nullopt;
}

/// The dialect with this name; nullopt if there is none.
constexpr std::optional<LabelDialect> dialect_from_string(std::string_view name) noexcept {
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        if (to_string(dialect) == name) return dialect;
    }
    return std::nullopt;
}

}  // namespace k8s_sd::inline v0
