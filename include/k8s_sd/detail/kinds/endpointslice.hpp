#pragma once

#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/service.hpp"
#include "k8s_sd/detail/kinds/shared/backing_pods.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class EndpointSliceObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::EndpointConditions> {
    using C = api::EndpointConditions;
    static constexpr FieldRows rows{
        Row<&C::ready>{"ready", 1, Use::labels},
        Row<&C::serving>{"serving", 2, Use::labels},
        Row<&C::terminating>{"terminating", 3, Use::labels},
    };
};

template <>
struct Table<api::ForZone> {
    static constexpr FieldRows rows{Row<&api::ForZone::name>{"name", 1}};
};

template <>
struct Table<api::ForNode> {
    static constexpr FieldRows rows{Row<&api::ForNode::name>{"name", 1}};
};

template <>
struct Table<api::EndpointHints> {
    using H = api::EndpointHints;
    static constexpr FieldRows rows{
        Row<&H::for_zones>{"forZones", 1},
        Row<&H::for_nodes>{"forNodes", 2},
    };
};

template <>
struct Table<api::Endpoint> {
    using E = api::Endpoint;
    static constexpr FieldRows rows{
        Row<&E::addresses>{"addresses", 1, Use::labels},
        Row<&E::conditions>{"conditions", 2, Use::labels},
        Row<&E::hostname>{"hostname", 3, Use::labels},
        Row<&E::target_ref>{"targetRef", 4, Use::labels},
        Row<&E::deprecated_topology>{"deprecatedTopology", 5, Use::labels},
        Row<&E::node_name>{"nodeName", 6, Use::labels},
        Row<&E::zone>{"zone", 7, Use::labels},
        Row<&E::hints>{"hints", 8},
        Row<&E::topology>{"topology", 0, Use::labels},  // v1beta1
    };
};

template <>
struct Table<api::EndpointSlicePort> {
    using P = api::EndpointSlicePort;
    static constexpr FieldRows rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::protocol>{"protocol", 2, Use::labels},
        Row<&P::port>{"port", 3, Use::labels},
        Row<&P::app_protocol>{"appProtocol", 4, Use::labels},
    };
};

template <>
struct KindTraits<Kind::endpointslice> {
    using Model = api::EndpointSlice;
    using LabelObject = EndpointSliceObject;
    static constexpr std::string_view older_versions[]{"v1beta1"};  // before Kubernetes 1.21
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::endpoints>{"endpoints", 2, Use::labels},
        Row<&Model::ports>{"ports", 3, Use::labels},
        Row<&Model::address_type>{"addressType", 4, Use::labels},
    };
};

// clang-format on

inline constexpr MetadataNames endpointslice_metadata_names{
    {"__meta_kubernetes_endpointslice_label_", "__meta_kubernetes_endpointslice_labelpresent_"},
    {"__meta_kubernetes_endpointslice_annotation_",
     "__meta_kubernetes_endpointslice_annotationpresent_"}};

class EndpointSliceObject : public LabelObject {
 public:
    struct Endpoint {
        LabelBlockPtr labels;
        LabelBlockPtr topology;
        std::vector<std::string_view> addresses;
        Backing backing;

        friend bool operator==(const Endpoint& a, const Endpoint& b) noexcept {
            return a.addresses == b.addresses && a.backing == b.backing &&
                   same(a.labels, b.labels) && same(a.topology, b.topology);
        }
    };
    struct Port {
        LabelBlockPtr labels;
        std::optional<std::int32_t> number;

        friend bool operator==(const Port& a, const Port& b) noexcept {
            return a.number == b.number && same(a.labels, b.labels);
        }
    };

    EndpointSliceObject(const api::EndpointSlice& slice, const RoleOptions& options,
                        LabelFactory& factory);
    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const EndpointSliceObject&>(other);
        return metadata == o.metadata && same(address_type, o.address_type) &&
               service_name == o.service_name && endpoints == o.endpoints && ports == o.ports;
    }

    LabelBlockPtr namespace_name;
    LabelBlockPtr slice_name;
    LabelBlockPtr address_type;
    Metadata metadata;
    std::string_view service_name;
    std::vector<Endpoint> endpoints;
    std::vector<Port> ports;
    std::vector<bool> leads;            ///< per endpoint, see LeadingAddresses
    std::vector<std::int32_t> numbers;  ///< of all ports with a number, sorted

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {namespace_name, slice_name, address_type});
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
    }
    static std::size_t text_size(const api::EndpointSlice& slice);
    OwnedText text_;
};

inline void add_slice_reference(LabelFactory::BlockBuilder& labels, std::string_view kind,
                                std::string_view name) {
    labels.add("__meta_kubernetes_endpointslice_address_target_kind", kind)
        .add("__meta_kubernetes_endpointslice_address_target_name", name);
}

inline void add_slice_conditions(LabelFactory::BlockBuilder& labels,
                                 const api::EndpointConditions& conditions,
                                 const RoleOptions& options) {
    const auto add = [&](LiteralName name, std::optional<bool> condition) {
        if (!condition && !options.rules->writes_unset_conditions) return;
        labels.add(name, condition.value_or(false) ? "true" : "false");
    };
    add("__meta_kubernetes_endpointslice_endpoint_conditions_ready", conditions.ready);
    add("__meta_kubernetes_endpointslice_endpoint_conditions_serving", conditions.serving);
    add("__meta_kubernetes_endpointslice_endpoint_conditions_terminating", conditions.terminating);
}

inline LabelBlockPtr slice_endpoint_labels(const api::Endpoint& endpoint,
                                           const RoleOptions& options, LabelFactory& factory) {
    auto labels = factory.block();
    add_slice_conditions(labels, endpoint.conditions, options);
    const auto add = [&](LiteralName name, const std::optional<std::string_view>& value) {
        if (value) labels.add(name, *value);
    };
    add("__meta_kubernetes_endpointslice_endpoint_hostname", endpoint.hostname);
    add("__meta_kubernetes_endpointslice_endpoint_node_name", endpoint.node_name);
    if (options.rules->writes_zone) {
        add("__meta_kubernetes_endpointslice_endpoint_zone", endpoint.zone);
    }
    if (writes_reference(endpoint.target_ref, options)) {
        add_slice_reference(labels, endpoint.target_ref->kind, endpoint.target_ref->name);
    }
    return labels.make();
}

inline LabelBlockPtr slice_port_labels(const api::EndpointSlicePort& port,
                                       const RoleOptions& options, LabelFactory& factory) {
    auto labels = factory.block();
    const auto add = [&](LiteralName name, const std::optional<std::string_view>& value) {
        if (value) labels.add(name, *value);
    };
    add("__meta_kubernetes_endpointslice_port_name", port.name);
    add("__meta_kubernetes_endpointslice_port_protocol", port.protocol);
    add("__meta_kubernetes_endpointslice_port_app_protocol", port.app_protocol);
    if (port.port || options.rules->missing_port_number_is_zero) {
        labels.add("__meta_kubernetes_endpointslice_port", std::to_string(port.port.value_or(0)));
    }
    return labels.make_shared();
}

inline LabelBlockPtr slice_topology(const api::Endpoint& endpoint, const RoleOptions& options,
                                    LabelFactory& factory) {
    const bool deprecated = endpoint.topology.empty() && options.rules->writes_topology;
    const KeyValues& topology = deprecated ? endpoint.deprecated_topology : endpoint.topology;
    return factory.family({"__meta_kubernetes_endpointslice_endpoint_topology_",
                           "__meta_kubernetes_endpointslice_endpoint_topology_present_"},
                          topology);
}

inline std::size_t EndpointSliceObject::text_size(const api::EndpointSlice& slice) {
    std::size_t size = slice.service_name().size();
    for (const api::Endpoint& endpoint : slice.endpoints) {
        for (const std::string_view address : endpoint.addresses) size += address.size();
        size += Backing::text_size(endpoint.target_ref, endpoint.node_name.value_or(""));
    }
    return size;
}

inline EndpointSliceObject::EndpointSliceObject(const api::EndpointSlice& slice,
                                                const RoleOptions& options, LabelFactory& factory)
    : LabelObject(Kind::endpointslice, slice.metadata.uid),
      namespace_name(namespace_label(factory, slice.metadata.namespace_)),
      slice_name(
          factory.block().add("__meta_kubernetes_endpointslice_name", slice.metadata.name).make()),
      address_type(address_type_label(factory, slice.address_type)),
      metadata(make_metadata(endpointslice_metadata_names, slice.metadata, factory)),
      text_(text_size(slice)) {
    set_key(namespace_name->only_value(), slice_name->only_value());
    service_name = text_.copy(slice.service_name());
    endpoints.reserve(slice.endpoints.size());
    for (const api::Endpoint& from : slice.endpoints) {
        factory.count_entry<Endpoint>();
        Endpoint endpoint{slice_endpoint_labels(from, options, factory),
                          slice_topology(from, options, factory),
                          {},
                          Backing::copy(from.target_ref, from.node_name.value_or(""), text_)};
        endpoint.addresses.reserve(from.addresses.size());
        for (const std::string_view address : from.addresses) {
            factory.count_entry<std::string_view>();
            endpoint.addresses.push_back(text_.copy(address));
        }
        endpoints.push_back(std::move(endpoint));
    }
    for (const api::EndpointSlicePort& port : slice.ports) {
        factory.count_entry<Port>();
        Port made{slice_port_labels(port, options, factory), std::nullopt};
        if (port.port) {
            made.number = static_cast<std::int32_t>(*port.port);
            numbers.push_back(*made.number);
        }
        ports.push_back(std::move(made));
    }
    std::sort(numbers.begin(), numbers.end());
    LeadingAddresses leading;
    for (const Endpoint& endpoint : endpoints) {
        if (endpoint.addresses.empty()) {
            leading.add_none();
        } else {
            leading.add(endpoint.backing);
        }
    }
    leads = std::move(leading).leads();
}

/// The node of an endpoint, by a reference to a Node, else by its node name.
inline std::string_view slice_node(const Backing& backing) {
    return backing.kind == "Node" ? backing.name : backing.node;
}

inline std::string slice_address(std::string_view address, const EndpointSliceObject::Port& port,
                                 const RoleOptions& options) {
    const bool bare = !port.number && !options.rules->missing_port_number_is_zero;
    if (bare) return std::string(address);
    return join_host_port(address, port.number.value_or(0));
}

/// Adds the common labels of an endpoint's targets, except the labels of the endpoint itself.
inline void begin_slice_endpoint(const EndpointSliceObject::Endpoint& endpoint,
                                 const PodObject* pod, const BackingPods& pods,
                                 GeneratorContext& g) {
    g.group.begin_common();
    if (!g.options.rules->attaches_through_pod_or_service) {
        attach_node(g, slice_node(endpoint.backing));
    }
    if (pod != nullptr) pods.add_labels(*pod, g, false);
}

inline void slice_targets(const EndpointSliceObject::Endpoint& endpoint,
                          const EndpointSliceObject::Port& port, const PodObject* pod,
                          const BackingPods& pods, GeneratorContext& g) {
    const PodPort* container = nullptr;
    if (pod != nullptr && port.number) {
        container = pods.find_port(*pod, *port.number, [](const PodPort&) { return true; });
    }
    for (const std::string_view address : endpoint.addresses) {
        if (g.group.overfull()) return;
        g.group.begin_target(slice_address(address, port, g.options))
            .add(endpoint.labels)
            .add(endpoint.topology)
            .add(port.labels)
            .add_common();
        if (container != nullptr) g.group.add(container->labels);
    }
}

/// Adds the targets of an endpoint and, for the leading endpoint of a pod, those of the pod's other
/// ports.
inline void slice_part(const EndpointSliceObject& slice, std::size_t index, const BackingPods& pods,
                       GeneratorContext& g) {
    const EndpointSliceObject::Endpoint& endpoint = slice.endpoints[index];
    if (endpoint.addresses.empty()) return;
    const PodObject* pod = pods.find(endpoint.backing, g);
    begin_slice_endpoint(endpoint, pod, pods, g);
    for (const EndpointSliceObject::Port& port : slice.ports)
        slice_targets(endpoint, port, pod, pods, g);
    if (pod == nullptr || !slice.leads[index]) return;
    pods.add_extra_targets(*pod, slice.numbers, g, [&] {
        if (!g.options.rules->uncovered_ports_refer_to_pod) return;
        auto labels = g.factory.block();
        add_slice_reference(labels, "Pod", pod->name());
        g.group.add(labels.make());
    });
}

inline void endpointslice_targets(const EndpointSliceObject& slice, GeneratorContext& g) {
    const ServiceObject* service = nullptr;
    if (!slice.service_name.empty()) {
        service = g.lookup.get<ServiceObject>(Kind::service, slice.ns(), slice.service_name);
    }
    g.group.add(slice.namespace_name).add(slice.slice_name).add(slice.address_type);
    slice.metadata.add_to(g.group);
    if (service != nullptr) add_service_labels(*service, g);
    attach_endpoint_namespace(g, slice.ns(), service != nullptr);

    const bool has_other_family = service != nullptr && service->ip_family != nullptr &&
                                  !same(service->ip_family, slice.address_type);
    if (slice.ports.empty() || has_other_family) return;
    const BackingPods pods(slice.ns(), service != nullptr);
    g.lookup.begin_parts(service != nullptr);
    for (std::size_t i = 0; i < slice.endpoints.size(); ++i) {
        if (g.group.overfull()) return;
        add_part(g, 1, [&] { slice_part(slice, i, pods, g); });
    }
}

template <>
struct RoleTraits<Role::endpointslice> {
    using MainObject = EndpointSliceObject;
    static constexpr std::string_view source_prefix = "endpointslice/";
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"endpointslice_name", group, both, "", ""},
        {"endpointslice_address_type", group, both, "`IPv4`, `IPv6` or `FQDN`", ""},
        {"endpointslice_label_<key>", group, both, "", "without that key"},
        {"endpointslice_annotation_<key>", group, both, "", "without that key"},
        {"endpointslice_endpoint_conditions_ready", target, both,
         "`true` or `false`, see [below](#ready-absent-means-ready)",
         "where the slice does not state it; vmagent's dialect writes `false`"},
        {"endpointslice_endpoint_conditions_serving", target, both,
         "`true` or `false`, see [below](#ready-absent-means-ready)",
         "where the slice does not state it; vmagent's dialect writes `false`"},
        {"endpointslice_endpoint_conditions_terminating", target, both,
         "`true` or `false`, see [below](#ready-absent-means-ready)",
         "where the slice does not state it; vmagent's dialect writes `false`"},
        {"endpointslice_endpoint_hostname", target, both,
         "", "where the endpoint does not state it"},
        {"endpointslice_endpoint_node_name", target, both,
         "", "where the endpoint does not state it"},
        {"endpointslice_endpoint_zone", target, prometheus,
         "", "where the endpoint does not state it"},
        {"endpointslice_endpoint_topology_<key>", target, both,
         "from the API's `deprecatedTopology` in Prometheus' dialect only; from "
         "`topology`, which [old servers](permissions.md#old-servers) have in its "
         "place, in both", "without that key"},
        {"endpointslice_endpoint_topology_present_<key>", target, both,
         "`true`", "without that key"},
        {"endpointslice_address_target_kind", target, both,
         "", "for an endpoint that refers to nothing"},
        {"endpointslice_address_target_name", target, both,
         "", "for an endpoint that refers to nothing"},
        {"endpointslice_port", target, both,
         "the number", "where the slice states none; vmagent's dialect writes `0`"},
        {"endpointslice_port_name", target, both, "", "where the slice does not state it"},
        {"endpointslice_port_protocol", target, both, "", "where the slice does not state it"},
        {"endpointslice_port_app_protocol", target, both, "", "where the slice does not state it"},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_behind_service(attach, kinds);
    }
    static void generate(const EndpointSliceObject& slice, GeneratorContext& g) {
        endpointslice_targets(slice, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
