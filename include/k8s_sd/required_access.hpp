#pragma once

#include "k8s_sd/access_rule.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// The access rules a configuration needs, sorted. Reads no file and sends no request. The own
/// namespace is `own_namespace_of_pod`. From WatchOptions::cluster_wide_from namespaces on there
/// are optional rules too: each allows one watch of all namespaces in place of one in each.
/// Thread-safe.
/// \throws ConfigError as validate()
K8S_SD_EXPORT std::vector<AccessRule> required_access(const DiscoveryConfig&);

/// The subject of the rights in rbac_manifest(), and the names of roles.
struct RbacOptions {
    /// Name of the roles and their bindings. Empty: "k8s-sd:NAMESPACE:ACCOUNT", chosen to replace
    /// no foreign role when applied. A name may have colons, like the default one.
    std::string name{};
    std::string service_account = "k8s-sd";             ///< subject of the rights
    std::string service_account_namespace = "default";  ///< namespace of the program's pod
    bool with_service_account = true;                   ///< includes the account in the manifest
};

/// The rules as YAML for `kubectl apply -f -`: a ClusterRole with its binding for access to all
/// namespaces, and a Role with its binding in each namespace for the rest. Optional rules are
/// written as comments. Thread-safe.
/// \throws ConfigError for an invalid name or namespace
K8S_SD_EXPORT std::string rbac_manifest(const std::vector<AccessRule>&, const RbacOptions& = {});

}  // namespace k8s_sd::inline v0
