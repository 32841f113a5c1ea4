#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0 {

/// How per_node() treats a configuration with cluster-wide watches.
enum class ClusterWide : std::uint8_t {
    refuse,
    allow,  ///< accepts it unchanged
};

/// The configuration for one of many agents, one on each node, as in a DaemonSet: restricted to the
/// objects of the node, selected by an index of the server. A role without such a restriction is
/// refused: its watches on every node would send every change of the cluster to every node, and
/// such load has taken down control planes. Thread-safe.
///
/// Role pod gets the field selector `spec.nodeName`; role node and the nodes of
/// attach_metadata.node get `metadata.name`. Lists come from the server's cache, and begin within
/// 10 s unless `watch.start_jitter` says otherwise; watches are not shared with wider ones.
/// \param node  the name of the node: the downward API's `spec.nodeName`
/// \throws ConfigError for an empty node, and for a cluster-wide watch, with the remedy
K8S_SD_EXPORT DiscoveryConfig per_node(DiscoveryConfig config, std::string_view node,
                                       ClusterWide = ClusterWide::refuse);

}  // namespace k8s_sd::inline v0
