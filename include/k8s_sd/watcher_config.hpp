#pragma once

#include "k8s_sd/access_rule.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fields.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/resource_name.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// Which objects of a kind a Watcher watches, and what it keeps of them. The server is found as
/// DiscoveryConfig finds it: `api_server.url`, else `kubeconfig_file`, else the service account of
/// the pod that the program runs in.
struct WatcherConfig {
    /// The server, with credentials. An empty URL: see above.
    ApiServerConfig api_server{};
    std::string kubeconfig_file{};          ///< see DiscoveryConfig
    std::string kubeconfig_context{};       ///< empty: current-context
    std::vector<std::string> namespaces{};  ///< empty, or one of them empty: all
    /// Adds the namespace that the program's pod runs in.
    bool own_namespace = false;
    /// What a Watcher<Generic> watches; of all others the struct says it.
    ResourceName resource{};
    std::string label_selector{};  ///< e.g. "app=web,tier in (a,b)"
    std::string field_selector{};  ///< e.g. "spec.nodeName=node-1"
    /// What is kept of each object. What is not costs no memory, and is no change. All of a Secret
    /// is without its annotations, see Fields::all().
    Fields fields = Fields::all();
    /// Least time between two calls of the callback; zero: deliver at once.
    Duration min_update_interval{0};
    /// How to list and watch. Configurations of one server and with equal options share watches,
    /// with those of discoverers, too.
    WatchOptions watch{};
};

/// What a Watcher of the kind needs: list and watch of that kind, and nothing else. See
/// required_access(const DiscoveryConfig&).
/// \throws ConfigError for a configuration that cannot be used
K8S_SD_EXPORT std::vector<AccessRule> required_access(Kind, const WatcherConfig&);

/// What a Watcher<Generic> needs. It must say `resource.plural`, and `resource.namespaced` if the
/// objects are not in namespaces. Where it leaves out anything else, the watcher also reads the
/// discovery documents of the API, which the ClusterRole system:discovery allows.
/// \throws ConfigError as above
K8S_SD_EXPORT std::vector<AccessRule> required_access(const WatcherConfig&);

}  // namespace k8s_sd::inline v0
