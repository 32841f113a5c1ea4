#pragma once

#include "k8s_sd/api/node.hpp"
#include "k8s_sd/detail/roles/role_traits.hpp"
#include "k8s_sd/detail/roles/shared/context.hpp"
#include "k8s_sd/detail/roles/shared/metadata.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

inline constexpr MetadataNames node_metadata_names{
    {"__meta_kubernetes_node_label_", "__meta_kubernetes_node_labelpresent_"},
    {"__meta_kubernetes_node_annotation_", "__meta_kubernetes_node_annotationpresent_"}};

inline LabelBlockPtr node_name_label(LabelFactory& factory, std::string_view name) {
    return factory.block().add("__meta_kubernetes_node_name", name).make_shared();
}

class NodeObject : public Object {
 public:
    NodeObject(const api::Node& node, const RoleOptions& options, LabelFactory& factory);

    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const NodeObject&>(other);
        return metadata == o.metadata && same(provider, o.provider) && same(address, o.address) &&
               same(addresses, o.addresses);
    }

    LabelBlockPtr node_name;
    LabelBlockPtr provider;
    LabelBlockPtr address;    // null: no address of a known type, hence no target
    LabelBlockPtr addresses;  // one label per address type
    Metadata metadata;

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {node_name, provider, address, addresses});
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
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

inline NodeObject::NodeObject(const api::Node& node, const RoleOptions& options,
                              LabelFactory& factory)
    : Object(Kind::node, node.metadata.uid),
      node_name(node_name_label(factory, node.metadata.name)),
      provider(
          factory.block().add("__meta_kubernetes_node_provider_id", node.spec.provider_id).make()),
      metadata(make_metadata(node_metadata_names, node.metadata, factory)) {
    set_key({}, node_name->only_value());
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
    g.group.add(node.node_name).add(node.provider);
    node.metadata.add_to(g.group);
    add_targets(g, [&] { g.group.begin_target().add(node.address).add(node.addresses); });
}

/// attach_metadata.node: the node's name, labels and annotations.
inline void attach_node(GeneratorContext& g, std::string_view name) {
    if (!g.options.attach.node) return;
    const auto* node = g.lookup.get<NodeObject>(Kind::node, {}, name);
    if (node != nullptr) {
        g.group.add(node->node_name);
        node->metadata.add_to(g.group);
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
        {"node_label_<key>", group, both, "", "without that key"},
        {"node_annotation_<key>", group, both, "", "without that key"},
        {"node_address_<type>", target, both, "the first address of that type", "without one"},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata&, std::vector<Kind>&) {}
    static void generate(const NodeObject& node, GeneratorContext& g) { node_targets(node, g); }
};

}  // namespace k8s_sd::inline v0::detail
