#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0 {

/// What per_node() does with a configuration whose watches would be of the whole cluster.
enum class ClusterWide : std::uint8_t {
    refuse,
    allow,  ///< takes it as it is
};

/// The configuration for one of many agents, one on each node, as a DaemonSet runs them: restricted
/// to the objects of that node, which the server's index finds. A role whose watches cannot be
/// restricted is refused: on every node they would send every change of the cluster to every node,
/// which has taken down control planes. Thread-safe.
///
/// Role pod gets the field selector `spec.nodeName`, role node `metadata.name`, and so do the nodes
/// that attach_metadata.node attaches. Lists come from the server's cache, and begin within 10 s
/// unless `watch.start_jitter` says otherwise; watches are not shared with wider ones.
/// \param node  the name of the node: the downward API's `spec.nodeName`
/// \throws ConfigError for an empty node, and where something would be cluster-wide, with what to
/// do
K8S_SD_EXPORT DiscoveryConfig per_node(DiscoveryConfig config, std::string_view node,
                                       ClusterWide = ClusterWide::refuse);

}  // namespace k8s_sd::inline v0
