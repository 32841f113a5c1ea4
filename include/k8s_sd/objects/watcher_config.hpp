#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/objects/fields.hpp"

#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// The resource of a Watcher<Generic>: any resource of the server, including custom ones. Group and
/// kind suffice; the watcher requests the rest from the server (`GET /apis/<group>` and
/// `GET /apis/<group>/<version>`, allowed for every authenticated user). With version, plural and
/// namespaced set it sends no such request.
struct ResourceName {
    std::string group{};    ///< "example.com"; empty: the core group
    std::string kind{};     ///< "Widget"
    std::string version{};  ///< "v1"; empty: the server's preferred version with this kind
    std::string plural{};   ///< "widgets"; empty: as the server reports
    /// Whether the objects are in namespaces; nullopt: as the server reports.
    std::optional<bool> namespaced{};
};

/// The objects of a kind to watch, and the fields to keep. The server is found as for
/// DiscoveryConfig: `api_server.url`, else `kubeconfig_file`, else the service account of the
/// program's pod.
struct WatcherConfig {
    /// The server, with credentials. An empty URL: see above.
    ApiServerConfig api_server{};
    std::string kubeconfig_file{};          ///< see DiscoveryConfig
    std::string kubeconfig_context{};       ///< empty: current-context
    std::vector<std::string> namespaces{};  ///< empty, or with an empty element: all
    /// Adds the namespace of the program's pod.
    bool own_namespace = false;
    /// The resource of a Watcher<Generic>; other watchers derive it from their struct.
    ResourceName resource{};
    std::string label_selector{};  ///< e.g. "app=web,tier in (a,b)"
    std::string field_selector{};  ///< e.g. "spec.nodeName=node-1"
    /// The fields to keep of each object. Other fields take no memory and cause no changes.
    /// Fields::all() excludes the annotations of a Secret.
    Fields fields = Fields::all();
    /// Minimum time between two calls of the callback; zero: deliver at once.
    Duration min_update_interval{0};
    /// Options of LIST and WATCH. Configurations with the same server and equal options share
    /// watches, also with discoverers.
    WatchOptions watch{};
};

}  // namespace k8s_sd::inline v0
