#pragma once

#include "k8s_sd/api/node.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class NodeObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::Taint> {
    using T = api::Taint;
    static constexpr FieldRows rows{
        Row<&T::key>{"key", 1},
        Row<&T::value>{"value", 2},
        Row<&T::effect>{"effect", 3},
    };
};

template <>
struct Table<api::NodeSpec> {
    using S = api::NodeSpec;
    static constexpr FieldRows rows{
        Row<&S::pod_cidr>{"podCIDR", 1},
        Row<&S::provider_id>{"providerID", 3, Use::labels},
        Row<&S::unschedulable>{"unschedulable", 4},
        Row<&S::taints>{"taints", 5},
        Row<&S::pod_cidrs>{"podCIDRs", 7},
    };
};

template <>
struct Table<api::NodeCondition> {
    using C = api::NodeCondition;
    static constexpr FieldRows rows{
        Row<&C::type>{"type", 1},
        Row<&C::status>{"status", 2},
        Row<&C::last_transition_time>{"lastTransitionTime", 4},
        Row<&C::reason>{"reason", 5},
        Row<&C::message>{"message", 6},
    };
};

template <>
struct Table<api::NodeAddress> {
    using A = api::NodeAddress;
    static constexpr FieldRows rows{
        Row<&A::type>{"type", 1, Use::labels},
        Row<&A::address>{"address", 2, Use::labels},
    };
};

template <>
struct Table<api::DaemonEndpoint> {
    static constexpr FieldRows rows{
        Row<&api::DaemonEndpoint::port>{"Port", 1, Use::labels},
    };
};

template <>
struct Table<api::NodeDaemonEndpoints> {
    static constexpr FieldRows rows{
        Row<&api::NodeDaemonEndpoints::kubelet_endpoint>{"kubeletEndpoint", 1, Use::labels},
    };
};

template <>
struct Table<api::NodeSystemInfo> {
    using I = api::NodeSystemInfo;
    static constexpr FieldRows rows{
        Row<&I::machine_id>{"machineID", 1},
        Row<&I::system_uuid>{"systemUUID", 2},
        Row<&I::boot_id>{"bootID", 3},
        Row<&I::kernel_version>{"kernelVersion", 4},
        Row<&I::os_image>{"osImage", 5},
        Row<&I::container_runtime_version>{"containerRuntimeVersion", 6},
        Row<&I::kubelet_version>{"kubeletVersion", 7},
        Row<&I::operating_system>{"operatingSystem", 9},
        Row<&I::architecture>{"architecture", 10},
    };
};

template <>
struct Table<api::NodeStatus> {
    using S = api::NodeStatus;
    static constexpr FieldRows rows{
        Row<&S::capacity>{"capacity", 1, Use::hosts, Format::quantities},
        Row<&S::allocatable>{"allocatable", 2, Use::hosts, Format::quantities},
        Row<&S::conditions>{"conditions", 4},
        Row<&S::addresses>{"addresses", 5, Use::labels},
        Row<&S::daemon_endpoints>{"daemonEndpoints", 6, Use::labels},
        Row<&S::node_info>{"nodeInfo", 7},
    };
};

template <>
struct KindTraits<Kind::node> {
    using Model = api::Node;
    using LabelObject = NodeObject;
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3, Use::labels},
    };
    // Without the times of heartbeats.
    static Fields version_fields(const VersionRules& rules) {
        if (!rules.writes_node_conditions) return {};
        return {"status.conditions.type", "status.conditions.status"};
    }
};

// clang-format on

inline constexpr MetadataNames node_metadata_names{
    {"__meta_kubernetes_node_label_", "__meta_kubernetes_node_labelpresent_"},
    {"__meta_kubernetes_node_annotation_", "__meta_kubernetes_node_annotationpresent_"}};

inline constexpr LiteralName node_name_label_name{"__meta_kubernetes_node_name"};

inline LabelBlockPtr node_name_label(LabelFactory& factory, std::string_view name) {
    return factory.block().add(node_name_label_name, name).make_shared();
}

class NodeObject : public LabelObject {
 public:
    NodeObject(const api::Node& node, const RoleOptions& options, LabelFactory& factory);

    Labels metadata_labels() const noexcept override {
        return Access::make<Labels>(&attached, &attached + 1);
    }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const NodeObject&>(other);
        return same(attached, o.attached) && same(provider, o.provider) &&
               same(conditions, o.conditions) && same(address, o.address) &&
               same(addresses, o.addresses);
    }

    LabelBlockPtr provider;
    LabelBlockPtr conditions;  // null: no such labels
    LabelBlockPtr address;     // null: no address of a known type, hence no target
    LabelBlockPtr addresses;   // one label per address type
    LabelBlockPtr attached;    // name, labels and annotations: what targets of pods have, too

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {attached, provider, conditions, address, addresses});
    }
};

/// The first address of the preferred type, in Prometheus' order.
inline const api::NodeAddress* node_address(const api::Node& node, const RoleOptions& options) {
    static constexpr std::array<std::string_view, 6> preference{
        "InternalIP", "InternalDNS", "ExternalIP", "ExternalDNS", "LegacyHostIP", "Hostname"};
    for (const std::string_view type : preference) {
        for (const api::NodeAddress& candidate : node.status.addresses) {
            if (candidate.type != type) continue;
            if (candidate.address.empty() && options.rules->skips_empty_node_addresses) break;
            return &candidate;
        }
    }
    return nullptr;
}

inline LabelBlockPtr node_conditions(const api::Node& node, const RoleOptions& options,
                                     LabelFactory& factory) {
    if (!options.version_rules->writes_node_conditions) return nullptr;
    KeyValues conditions;
    std::vector<std::string> texts;
    texts.reserve(2 * node.status.conditions.size());
    for (const api::NodeCondition& condition : node.status.conditions) {
        const std::string& type = texts.emplace_back(lower_case(condition.type));
        conditions.emplace_back(type, texts.emplace_back(lower_case(condition.status)));
    }
    return factory.family({"__meta_kubernetes_node_condition_", ""}, conditions);
}

inline NodeObject::NodeObject(const api::Node& node, const RoleOptions& options,
                              LabelFactory& factory)
    : LabelObject(Kind::node, node.metadata.uid),
      provider(
          factory.block().add("__meta_kubernetes_node_provider_id", node.spec.provider_id).make()),
      conditions(node_conditions(node, options, factory)),
      attached(factory.with_families(node_name_label_name, node.metadata.name,
                                     node_metadata_names.labels, node.metadata.labels,
                                     node_metadata_names.annotations, node.metadata.annotations)) {
    set_key({}, attached->value(0));
    if (const auto* best = node_address(node, options)) {
        address = factory.block()
                      .add(address_name,
                           join_host_port(best->address,
                                          node.status.daemon_endpoints.kubelet_endpoint.port))
                      .add("instance", node.metadata.name)
                      .make();
    }
    // The first address of each type wins; emplace_back() lets the last one win.
    KeyValues by_type;
    for (auto it = node.status.addresses.rbegin(); it != node.status.addresses.rend(); ++it) {
        by_type.emplace_back(it->type, it->address);
    }
    addresses = factory.family({"__meta_kubernetes_node_address_", ""}, by_type);
}

inline void node_targets(const NodeObject& node, GeneratorContext& g) {
    if (!node.address) return;
    g.group.add(node.attached).add(node.provider).add(node.conditions);
    add_targets(g, [&] { g.group.begin_target().add(node.address).add(node.addresses); });
}

/// Whether attach_metadata.node makes targets depend on the node of their pod.
inline bool lacks_needed_node(GeneratorContext& g, std::string_view name) {
    if (!g.options.attach.node || !g.options.version_rules->needs_known_node) return false;
    return g.lookup.find(Kind::node, {}, name) == nullptr;
}

/// attach_metadata.node: the node's name, labels and annotations.
inline void attach_node(GeneratorContext& g, std::string_view name) {
    if (!g.options.attach.node) return;
    const auto* node = g.lookup.get<NodeObject>(Kind::node, {}, name);
    if (node != nullptr) {
        g.group.add(node->attached);
    } else if (g.options.rules->attaches_name_of_unknown_node && !name.empty()) {
        g.group.add(node_name_label(g.factory, name));
    }
}

template <>
struct RoleTraits<Role::node> {
    using MainObject = NodeObject;
    static constexpr std::string_view source_prefix = "node/";
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"node_name", group, both, "", ""},
        {"node_provider_id", group, both, "empty where the node has none", ""},
        {"node_condition_<type>", group, prometheus,
         "the condition's status, `true`, `false` or `unknown`; its type in lower case",
         "without that condition", PrometheusVersion::v3_12},
        {"node_label_<key>", group, both, "", "without that key"},
        {"node_annotation_<key>", group, both, "", "without that key"},
        {"node_address_<type>", target, both, "the first address of that type", "without one"},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata&, std::vector<Kind>&) {}
    static void generate(const NodeObject& node, GeneratorContext& g) { node_targets(node, g); }
};

}  // namespace k8s_sd::inline v0::detail
