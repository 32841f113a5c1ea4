#pragma once

#include "k8s_sd/role.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// What can be watched. The first six are the main kinds of the roles of the same name.
enum class Kind : std::uint8_t {
    node,
    pod,
    service,
    endpoints,
    endpointslice,
    ingress,
    namespace_,
    replicaset,
    job,
    secret,
    configmap,
};
/// Number of kinds.
inline constexpr std::size_t kind_count = 11;

/// The kind of which each object has a target group in that role.
constexpr Kind main_kind(Role role) noexcept { return static_cast<Kind>(role); }

/// How the API server calls a kind.
struct Resource {
    std::string_view kind;     ///< "Pod"
    std::string_view group;    ///< "" for the core group
    std::string_view version;  ///< "v1"
    std::string_view plural;   ///< "pods"
    /// Whether objects of this kind are in a namespace.
    bool namespaced = true;
};

/// All kinds, in the order of Kind.
inline constexpr std::array<Resource, kind_count> resources{{
    {"Node", "", "v1", "nodes", false},
    {"Pod", "", "v1", "pods", true},
    {"Service", "", "v1", "services", true},
    {"Endpoints", "", "v1", "endpoints", true},
    {"EndpointSlice", "discovery.k8s.io", "v1", "endpointslices", true},
    {"Ingress", "networking.k8s.io", "v1", "ingresses", true},
    {"Namespace", "", "v1", "namespaces", false},
    {"ReplicaSet", "apps", "v1", "replicasets", true},
    {"Job", "batch", "v1", "jobs", true},
    {"Secret", "", "v1", "secrets", true},
    {"ConfigMap", "", "v1", "configmaps", true},
}};

/// How the API server calls that kind.
constexpr const Resource& resource_of(Kind kind) noexcept {
    return resources[static_cast<std::size_t>(kind)];
}
/// The plural resource name, for messages and metrics.
constexpr std::string_view to_string(Kind kind) noexcept { return resource_of(kind).plural; }

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
