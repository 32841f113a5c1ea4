#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"

#include <string_view>

/// The owner's shards: each pod keeps the targets of its own number. The placeholders `$(SHARD)`,
/// `$(INZONE_SHARD)` and `$(TOPOLOGY_ZONE)` stay in the rules; each replica replaces them.
namespace k8s_sd::inline v0::detail {

/// Whether the owner shards by zones, and the feature is on.
bool shards_by_zone(const JobContext&);

/// Whether jobs need the labels of nodes for that.
bool sharding_needs_nodes(const JobContext&);

/// Appends the rules of ServiceMonitors, PodMonitors and Probes.
/// \param hashed  the label with the targets' identity
void add_sharding_rules(RuleList&, const JobContext&, std::string_view hashed);

/// Appends the rules of ScrapeConfigs and additional jobs: only with several shards, and only if
/// the job does not shard by itself.
void add_sharding_rules_if_needed(RuleList&, const JobContext&);

}  // namespace k8s_sd::inline v0::detail
