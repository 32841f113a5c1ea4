#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/kind.hpp"

#include <array>
#include <compare>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// Placeholder in AccessRule::ns for the namespace of the program's own pod, unknown before it
/// runs. No namespace can have this name.
inline constexpr std::string_view own_namespace_of_pod = "(own)";

/// The right to read the objects of one resource, as in the server's authorization (RBAC).
struct AccessRule {
    /// The verbs needed for every resource: LIST for the state, WATCH for changes.
    static constexpr std::array<std::string_view, 2> verbs{"list", "watch"};

    std::string api_group{};  ///< "" is the core group
    std::string resource{};   ///< the plural name, "pods"
    bool namespaced = true;   ///< whether the objects are in namespaces
    std::string ns{};         ///< empty: all namespaces (or none, see `namespaced`)
    /// Whether another rule can replace this one, see WatchOptions::cluster_wide_from.
    bool optional = false;
    auto operator<=>(const AccessRule&) const = default;
};

/// The right to list and watch a kind.
/// \param ns  empty: all namespaces. Ignored for kinds without namespaces
K8S_SD_EXPORT AccessRule access_to(Kind kind, std::string_view ns = {});

/// The rule as in a Role or ClusterRole:
/// `{apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list", "watch"]}`.
K8S_SD_EXPORT std::string rule_text(const AccessRule&);

/// "pods in the namespace shop", "endpointslices (API group discovery.k8s.io) in all namespaces",
/// "nodes".
K8S_SD_EXPORT std::string to_string(const AccessRule&);

}  // namespace k8s_sd::inline v0
