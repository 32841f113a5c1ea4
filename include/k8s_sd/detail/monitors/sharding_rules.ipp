#include "k8s_sd/detail/monitors/sharding_rules.hpp"

#include <algorithm>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

namespace {

std::uint64_t shard_count(const MonitorOwner& owner) {
    return std::max<std::uint64_t>(1, owner.shards);
}

/// Keeps the replicas of former shards from scraping.
void add_retention_rules(RuleList& rules, const MonitorOwner& owner) {
    constexpr std::uint64_t max_listed = 10'000;
    std::string current = "0";
    for (std::uint64_t i = 1; i < std::min(shard_count(owner), max_listed); ++i) {
        current.append("|").append(std::to_string(i));
    }
    rules.add({.action = "replace", .target = "__tmp_current_shard", .replacement = "$(SHARD)"});
    rules.add({.action = "keep", .sources = {"__tmp_current_shard"}, .regex = current});
}

/// Keeps the targets of the own zone.
void add_zone_rules(RuleList& rules, const JobContext& context) {
    const std::string object = context.options.pod_topology_labels ? "pod" : "node";
    const std::string label = "topology_kubernetes_io_zone";
    rules.add({.action = "replace",
               .sources = {"__meta_kubernetes_endpointslice_endpoint_zone", "__tmp_topology"},
               .regex = "(.+);",
               .target = "__tmp_topology",
               .replacement = "$1"});
    rules.add(
        {.action = "replace",
         .sources = {"__meta_kubernetes_" + object + "_label_" + label,
                     "__meta_kubernetes_" + object + "_labelpresent_" + label, "__tmp_topology"},
         .regex = "(.+);true;",
         .target = "__tmp_topology",
         .replacement = "$1"});
    rules.add({.action = "keep",
               .sources = {"__tmp_topology", "__tmp_disable_sharding"},
               .regex = "$(TOPOLOGY_ZONE);|.+;.+"});
}

}  // namespace

bool shards_by_zone(const JobContext& context) {
    return context.options.topology_sharding && !context.owner.topology.empty();
}

bool sharding_needs_nodes(const JobContext& context) {
    return shards_by_zone(context) && !context.options.pod_topology_labels;
}

void add_sharding_rules(RuleList& rules, const JobContext& context, std::string_view hashed) {
    std::uint64_t modulus = shard_count(context.owner);
    std::string shard = "$(SHARD)";
    if (context.options.retention_policies) add_retention_rules(rules, context.owner);
    if (shards_by_zone(context)) {
        modulus = std::max<std::uint64_t>(1, modulus / context.owner.topology.size());
        shard = "$(INZONE_SHARD)";
        add_zone_rules(rules, context);
    }
    // A hash source set by the object's rules stays.
    rules.add({.action = "replace",
               .sources = {std::string(hashed), "__tmp_hash"},
               .regex = "(.+);",
               .target = "__tmp_hash",
               .replacement = "$1"});
    rules.add({.action = "hashmod",
               .sources = {"__tmp_hash"},
               .target = "__tmp_hash",
               .modulus = modulus});
    rules.add({.action = "keep",
               .sources = {"__tmp_hash", "__tmp_disable_sharding"},
               .regex = shard + ";|.+;.+"});
}

void add_sharding_rules_if_needed(RuleList& rules, const JobContext& context) {
    if (shard_count(context.owner) == 1 || rules.has_hashmod()) return;
    add_sharding_rules(rules, context, "__address__");
}

}  // namespace k8s_sd::inline v0::detail
