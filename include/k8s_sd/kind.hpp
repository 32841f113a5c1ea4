#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/role.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

// clang-format off
/// The kinds, one row each: the enumerator, then the members of its Resource. This is the only list
/// of kinds. A new kind needs a row here, a file detail/kinds/<enumerator>.hpp with its fields and
/// its cached object, and the #include of it in detail/kinds/all.hpp. The macro is not for hosts.
#define K8S_SD_KINDS(ROW)                                                                     \
    /** A machine of the cluster. */                                                          \
    ROW(node, "Node", "", "v1", "nodes", false)                                               \
    /** Containers with one address, scheduled together. */                                   \
    ROW(pod, "Pod", "", "v1", "pods", true)                                                   \
    /** A name and an address in front of pods. */                                            \
    ROW(service, "Service", "", "v1", "services", true)                                       \
    /** The addresses behind a service, all in one object: up to a thousand of them. */       \
    ROW(endpoints, "Endpoints", "", "v1", "endpoints", true)                                  \
    /** Some of the addresses behind a service. */                                            \
    ROW(endpointslice, "EndpointSlice", "discovery.k8s.io", "v1", "endpointslices", true)     \
    /** Hosts and paths served to clients outside of the cluster. */                          \
    ROW(ingress, "Ingress", "networking.k8s.io", "v1", "ingresses", true)                     \
    /** For its labels and annotations, see AttachMetadata. */                                \
    ROW(namespace_, "Namespace", "", "v1", "namespaces", false)                               \
    /** The link between a pod and its Deployment. */                                         \
    ROW(replicaset, "ReplicaSet", "apps", "v1", "replicasets", true)                          \
    /** The link between a pod and its CronJob. */                                            \
    ROW(job, "Job", "batch", "v1", "jobs", true)                                              \
    /** Data in a DataObject; reaches no label. */                                            \
    ROW(secret, "Secret", "", "v1", "secrets", true)                                          \
    /** Data in a DataObject; reaches no label. */                                            \
    ROW(configmap, "ConfigMap", "", "v1", "configmaps", true)                                 \
    /** Listeners for clients outside of the cluster, for routes to attach to. */             \
    ROW(gateway, "Gateway", "gateway.networking.k8s.io", "v1", "gateways", true)              \
    /** Hostnames and paths of HTTP requests. */                                              \
    ROW(httproute, "HTTPRoute", "gateway.networking.k8s.io", "v1", "httproutes", true)        \
    /** Hostnames and methods of gRPC requests. */                                            \
    ROW(grpcroute, "GRPCRoute", "gateway.networking.k8s.io", "v1", "grpcroutes", true)        \
    /** Hostnames of TLS connections. */                                                      \
    ROW(tlsroute, "TLSRoute", "gateway.networking.k8s.io", "v1", "tlsroutes", true)           \
    /* A new one goes here, at the end. */
// clang-format on

#define K8S_SD_ENUMERATOR(name, ...) name,
#define K8S_SD_RESOURCE(name, ...) Resource{__VA_ARGS__},
#define K8S_SD_ONE_MORE(...) +1
#define K8S_SD_MAIN_KIND(name, kind, ...) \
    case Role::name: return Kind::kind;

/// The kinds to watch. Further values stand for other resources, see other_kind().
enum class Kind : std::uint16_t { K8S_SD_KINDS(K8S_SD_ENUMERATOR) };
/// Number of kinds with fields known to the library.
inline constexpr std::size_t kind_count = 0 K8S_SD_KINDS(K8S_SD_ONE_MORE);
/// The first value for other resources. By itself it stands for any of them.
inline constexpr Kind any_other_kind = static_cast<Kind>(kind_count);

/// Whether the library knows the fields of this kind.
constexpr bool is_built_in(Kind kind) noexcept { return kind < any_other_kind; }

/// The API server's names for a kind.
struct Resource {
    std::string_view kind;     ///< "Pod"
    std::string_view group;    ///< "" for the core group
    std::string_view version;  ///< "v1"
    std::string_view plural;   ///< "pods"
    /// Whether objects of this kind are in a namespace.
    bool namespaced = true;
};

/// All kinds, indexed by Kind.
inline constexpr std::array<Resource, kind_count> resources{{K8S_SD_KINDS(K8S_SD_RESOURCE)}};

/// The kind of the objects with the targets of a role.
constexpr Kind main_kind(Role role) noexcept {
    switch (role) { K8S_SD_ROLES(K8S_SD_MAIN_KIND) }
    return {};
}

#undef K8S_SD_ENUMERATOR
#undef K8S_SD_RESOURCE
#undef K8S_SD_ONE_MORE
#undef K8S_SD_MAIN_KIND

namespace detail {

/// A kind without built-in support, with its name in messages.
struct OtherKind {
    Resource resource;
    std::string_view name;
};
K8S_SD_EXPORT const OtherKind& find_other_kind(Kind) noexcept;

}  // namespace detail

/// The Kind for a resource without built-in support, such as a custom one: the same for equal
/// resources, for the lifetime of the process. Thread-safe.
/// \throws std::length_error after 16 000 different resources, 64 of the same kind and group
K8S_SD_EXPORT Kind other_kind(const Resource&);

/// The API server's names for this kind.
constexpr const Resource& resource_of(Kind kind) noexcept {
    if (!is_built_in(kind)) return detail::find_other_kind(kind).resource;
    return resources[static_cast<std::size_t>(kind)];
}
/// The plural resource name, for messages and metrics: "pods"; for kinds without built-in support
/// with the API group: "widgets.example.com".
constexpr std::string_view to_string(Kind kind) noexcept {
    if (!is_built_in(kind)) return detail::find_other_kind(kind).name;
    return resource_of(kind).plural;
}

/// Whether the objects of this kind are Secrets.
constexpr bool holds_secrets(Kind kind) noexcept {
    const Resource& r = resource_of(kind);
    return r.group.empty() && r.plural == resource_of(Kind::secret).plural;
}

/// "/api/v1/pods", "/apis/apps/v1/namespaces/shop/replicasets". An empty `ns` (or a kind without
/// namespaces) gives the cluster-wide path.
inline std::string collection_path(Kind kind, std::string_view ns) {
    const Resource& r = resource_of(kind);
    std::string path = r.group.empty() ? "/api/" : "/apis/" + std::string(r.group) + "/";
    path += r.version;
    if (r.namespaced && !ns.empty()) (path += "/namespaces/") += ns;
    return (path += "/") += r.plural;
}

}  // namespace k8s_sd::inline v0
