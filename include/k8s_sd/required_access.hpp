#pragma once

#include "k8s_sd/access_rule.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// What a configuration needs to be allowed, sorted. Reads no file and asks no server. The own
/// namespace is `own_namespace_of_pod`. From WatchOptions::cluster_wide_from namespaces on there
/// are optional rules, too: each allows one watch of all namespaces in place of one in each.
/// Thread-safe.
/// \throws ConfigError as validate()
K8S_SD_EXPORT std::vector<AccessRule> required_access(const DiscoveryConfig&);

/// To whom rbac_manifest() gives rights, and under which names.
struct RbacOptions {
    /// Of the roles and their bindings. Empty: "k8s-sd:NAMESPACE:ACCOUNT", which replaces no role
    /// of somebody else's when it is applied. A name may have colons, as that one.
    std::string name{};
    std::string service_account = "k8s-sd";             ///< which gets the rights
    std::string service_account_namespace = "default";  ///< where the program's pod runs
    bool with_service_account = true;                   ///< the manifest makes it, too
};

/// The rules as YAML for `kubectl apply -f -`: a ClusterRole with its binding for what is needed in
/// all namespaces, and a Role with its binding in each namespace for the rest. Optional rules are
/// comments. Thread-safe.
/// \throws ConfigError for a name or namespace that cannot be one
K8S_SD_EXPORT std::string rbac_manifest(const std::vector<AccessRule>&, const RbacOptions& = {});

}  // namespace k8s_sd::inline v0
