#pragma once

#include "k8s_sd/api/endpoints.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/service.hpp"
#include "k8s_sd/detail/kinds/shared/backing_pods.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class EndpointsObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::EndpointAddress> {
    using A = api::EndpointAddress;
    static constexpr FieldRows rows{
        Row<&A::ip>{"ip", 1, Use::labels},
        Row<&A::target_ref>{"targetRef", 2, Use::labels},
        Row<&A::hostname>{"hostname", 3, Use::labels},
        Row<&A::node_name>{"nodeName", 4, Use::labels},
    };
};

template <>
struct Table<api::EndpointPort> {
    using P = api::EndpointPort;
    static constexpr FieldRows rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::port>{"port", 2, Use::labels},
        Row<&P::protocol>{"protocol", 3, Use::labels},
        Row<&P::app_protocol>{"appProtocol", 4},
    };
};

template <>
struct Table<api::EndpointSubset> {
    using S = api::EndpointSubset;
    static constexpr FieldRows rows{
        Row<&S::addresses>{"addresses", 1, Use::labels},
        Row<&S::not_ready_addresses>{"notReadyAddresses", 2, Use::labels},
        Row<&S::ports>{"ports", 3, Use::labels},
    };
};

template <>
struct KindTraits<Kind::endpoints> {
    using Model = api::Endpoints;
    using LabelObject = EndpointsObject;
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::subsets>{"subsets", 2, Use::labels},
    };
};

// clang-format on

inline constexpr MetadataNames endpoints_metadata_names{
    {"__meta_kubernetes_endpoints_label_", "__meta_kubernetes_endpoints_labelpresent_"},
    {"__meta_kubernetes_endpoints_annotation_", "__meta_kubernetes_endpoints_annotationpresent_"}};

class EndpointsObject : public LabelObject {
 public:
    struct Address {
        LabelBlockPtr labels;  // target reference, node and host name
        std::string_view ip;
        Backing backing;

        friend bool operator==(const Address& a, const Address& b) noexcept {
            return a.ip == b.ip && a.backing == b.backing && same(a.labels, b.labels);
        }
    };
    struct Port {
        LabelBlockPtr labels;
        std::int32_t number = 0;
        std::string_view protocol;

        friend bool operator==(const Port& a, const Port& b) noexcept {
            return a.number == b.number && same(a.labels, b.labels);
        }
    };
    struct Subset {
        std::vector<Address> ready, not_ready;
        std::vector<Port> ports;

        friend bool operator==(const Subset&, const Subset&) = default;
    };

    EndpointsObject(const api::Endpoints& endpoints, const RoleOptions& options,
                    LabelFactory& factory);
    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const EndpointsObject&>(other);
        return metadata == o.metadata && subsets == o.subsets;
    }

    LabelBlockPtr namespace_name;
    LabelBlockPtr endpoints_name;
    LabelBlockPtr ready, not_ready;
    Metadata metadata;
    std::vector<Subset> subsets;
    /// Per address of subsets with ports, see LeadingAddresses.
    std::vector<bool> leads;
    /// Positions of leading addresses whose pods occur in other subsets, too; sorted.
    std::vector<std::pair<std::size_t, const Subset*>> also_in;
    /// The object was truncated, because its addresses exceed the limit of Endpoints.
    bool over_capacity = false;

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {namespace_name, endpoints_name});
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
    }
    static std::size_t text_size(const api::Endpoints& endpoints);
    void find_leading_addresses();
    OwnedText text_;
};

inline void add_endpoint_reference(LabelFactory::BlockBuilder& labels, std::string_view kind,
                                   std::string_view name) {
    labels.add("__meta_kubernetes_endpoint_address_target_kind", kind)
        .add("__meta_kubernetes_endpoint_address_target_name", name);
}

inline LabelBlockPtr endpoint_address_labels(const api::EndpointAddress& address,
                                             const RoleOptions& options, LabelFactory& factory) {
    auto labels = factory.block();
    const TargetRef& target = address.target_ref;
    if (writes_reference(target, options)) {
        add_endpoint_reference(labels, target->kind, target->name);
    }
    labels.add_if("__meta_kubernetes_endpoint_node_name", address.node_name)
        .add_if("__meta_kubernetes_endpoint_hostname", address.hostname);
    return labels.make();
}

inline LabelBlockPtr endpoint_ready_label(LabelFactory& factory, std::string_view ready) {
    return factory.block().add("__meta_kubernetes_endpoint_ready", ready).make_shared();
}

/// The annotation is set by the endpoints controller after truncation (Kubernetes 1.22).
inline bool is_over_capacity(const api::ObjectMeta& meta) {
    const auto state = meta.annotations.find("endpoints.kubernetes.io/over-capacity");
    return state == "truncated" || state == "warning";
}

inline std::size_t EndpointsObject::text_size(const api::Endpoints& endpoints) {
    std::size_t size = 0;
    for (const auto& subset : endpoints.subsets) {
        for (const auto* addresses : {&subset.addresses, &subset.not_ready_addresses}) {
            for (const auto& address : *addresses) {
                size +=
                    address.ip.size() + Backing::text_size(address.target_ref, address.node_name);
            }
        }
        for (const auto& port : subset.ports) size += port.protocol.size();
    }
    return size;
}

inline EndpointsObject::EndpointsObject(const api::Endpoints& endpoints, const RoleOptions& options,
                                        LabelFactory& factory)
    : LabelObject(Kind::endpoints, endpoints.metadata.uid),
      namespace_name(namespace_label(factory, endpoints.metadata.namespace_)),
      endpoints_name(
          factory.block().add("__meta_kubernetes_endpoints_name", endpoints.metadata.name).make()),
      ready(endpoint_ready_label(factory, "true")),
      not_ready(endpoint_ready_label(factory, "false")),
      metadata(make_metadata(endpoints_metadata_names, endpoints.metadata, factory)),
      over_capacity(is_over_capacity(endpoints.metadata)),
      text_(text_size(endpoints)) {
    set_key(namespace_name->only_value(), endpoints_name->only_value());
    for (const api::EndpointSubset& from : endpoints.subsets) {
        factory.count_entry<Subset>();
        Subset subset;
        const auto add = [&](const auto& addresses, std::vector<Address>& to) {
            for (const api::EndpointAddress& address : addresses) {
                factory.count_entry<Address>();
                to.push_back({endpoint_address_labels(address, options, factory),
                              text_.copy(address.ip),
                              Backing::copy(address.target_ref, address.node_name, text_)});
            }
        };
        add(from.addresses, subset.ready);
        add(from.not_ready_addresses, subset.not_ready);
        for (const api::EndpointPort& port : from.ports) {
            factory.count_entry<Port>();
            subset.ports.push_back(
                {factory.block()
                     .add("__meta_kubernetes_endpoint_port_name", port.name)
                     .add("__meta_kubernetes_endpoint_port_protocol", port.protocol)
                     .make_shared(),
                 static_cast<std::int32_t>(port.port), text_.copy(port.protocol)});
        }
        subsets.push_back(std::move(subset));
    }
    find_leading_addresses();
}

inline void EndpointsObject::find_leading_addresses() {
    LeadingAddresses leading;
    for (const Subset& subset : subsets) {
        if (subset.ports.empty()) continue;
        const std::size_t begin = leading.size();
        for (const auto* addresses : {&subset.ready, &subset.not_ready}) {
            for (const Address& address : *addresses) {
                const auto leader = leading.add(address.backing);
                if (leader && *leader < begin) also_in.emplace_back(*leader, &subset);
            }
        }
    }
    leads = std::move(leading).leads();
    std::stable_sort(also_in.begin(), also_in.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    also_in.erase(std::unique(also_in.begin(), also_in.end()), also_in.end());
}

/// The node of an address, by its node name, else by a reference to a Node.
inline std::string_view endpoint_node(const Backing& backing) {
    if (!backing.node.empty()) return backing.node;
    return backing.kind == "Node" ? backing.name : std::string_view();
}

/// The container labels for an endpoint's port.
inline LabelBlockPtr endpoint_container(const PodObject& pod, const EndpointsObject::Port& port,
                                        const BackingPods& pods, GeneratorContext& g) {
    const auto* found = pods.find_port(pod, port.number, [&](const PodPort& candidate) {
        return BackingPods::is_endpoint_port(candidate, g.options);
    });
    if (found == nullptr) return nullptr;
    if (!g.options.rules->container_port_has_protocol_of_endpoint) return found->labels;
    return with_protocol(g.factory, *found, port.protocol);
}

/// An address with its context in the object.
struct PlacedAddress {
    const EndpointsObject::Subset& subset;
    const EndpointsObject::Address& address;
    const LabelBlockPtr& ready;
    std::size_t position = 0;
};

inline void endpoint_targets(const PlacedAddress& at, const PodObject* pod, const BackingPods& pods,
                             GeneratorContext& g) {
    g.group.begin_common();
    if (!g.options.rules->attaches_through_pod_or_service) {
        attach_node(g, endpoint_node(at.address.backing));
    }
    if (pod != nullptr) pods.add_labels(*pod, g, false);
    for (const EndpointsObject::Port& port : at.subset.ports) {
        if (g.group.overfull()) return;
        g.group.begin_target(join_host_port(at.address.ip, port.number))
            .add(at.address.labels)
            .add(port.labels)
            .add(at.ready)
            .add_common();
        if (pod != nullptr) g.group.add(endpoint_container(*pod, port, pods, g));
    }
}

/// The port numbers the object contains for the pod of a leading address, sorted.
inline std::vector<std::int32_t> covered_ports(const EndpointsObject& endpoints,
                                               const PlacedAddress& at) {
    std::vector<std::int32_t> covered;
    const auto add = [&](const EndpointsObject::Subset& subset) {
        for (const EndpointsObject::Port& port : subset.ports) covered.push_back(port.number);
    };
    add(at.subset);
    const auto& also_in = endpoints.also_in;
    const auto before = [](const auto& entry, std::size_t position) {
        return entry.first < position;
    };
    for (auto it = std::lower_bound(also_in.begin(), also_in.end(), at.position, before);
         it != also_in.end() && it->first == at.position; ++it) {
        add(*it->second);
    }
    std::sort(covered.begin(), covered.end());
    return covered;
}

/// Adds the targets of an address and, for the leading address of a pod, those of the pod's other
/// ports.
inline void endpoint_part(const EndpointsObject& endpoints, const PlacedAddress& at,
                          const BackingPods& pods, GeneratorContext& g) {
    const PodObject* pod = pods.find(at.address.backing, g);
    endpoint_targets(at, pod, pods, g);
    if (pod == nullptr || !endpoints.leads[at.position]) return;
    pods.add_extra_targets(*pod, covered_ports(endpoints, at), g, [&] {
        if (!g.options.rules->uncovered_ports_refer_to_pod) return;
        auto labels = g.factory.block();
        add_endpoint_reference(labels, "Pod", pod->name());
        g.group.add(labels.make());
    });
}

inline void endpoints_targets(const EndpointsObject& endpoints, GeneratorContext& g) {
    const auto* service =
        g.lookup.get<ServiceObject>(Kind::service, endpoints.ns(), endpoints.name());
    g.group.add(endpoints.namespace_name).add(endpoints.endpoints_name);
    endpoints.metadata.add_to(g.group);
    if (service != nullptr) add_service_labels(*service, g);
    attach_endpoint_namespace(g, endpoints.ns(), service != nullptr);

    const BackingPods pods(endpoints.ns(), service != nullptr);
    g.lookup.begin_parts(service != nullptr);
    std::size_t position = 0;
    for (const EndpointsObject::Subset& subset : endpoints.subsets) {
        if (subset.ports.empty()) continue;
        // Targets are ordered by port first.
        const std::size_t stride = subset.ready.size() + subset.not_ready.size();
        const auto add = [&](const auto& addresses, const LabelBlockPtr& ready) {
            for (const EndpointsObject::Address& address : addresses) {
                if (g.group.overfull()) return;
                const PlacedAddress at{subset, address, ready, position++};
                add_part(g, stride, [&] { endpoint_part(endpoints, at, pods, g); });
            }
        };
        add(subset.ready, endpoints.ready);
        add(subset.not_ready, endpoints.not_ready);
    }
}

template <>
struct RoleTraits<Role::endpoints> {
    using MainObject = EndpointsObject;
    static constexpr std::string_view source_prefix = "endpoints/";
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"endpoints_name", group, both, "", ""},
        {"endpoints_label_<key>", group, both, "", "without that key"},
        {"endpoints_annotation_<key>", group, both, "", "without that key"},
        {"endpoint_ready", target, both, "`true` or `false`", "for a further port of a pod"},
        {"endpoint_port_name", target, both, "", "for a further port of a pod"},
        {"endpoint_port_protocol", target, both, "", "for a further port of a pod"},
        {"endpoint_hostname", target, both, "", "where the address does not state it"},
        {"endpoint_node_name", target, both, "", "where the address does not state it"},
        {"endpoint_address_target_kind", target, both,
         "", "for an address that refers to nothing; in Prometheus' dialect for a further "
         "port of a pod, too"},
        {"endpoint_address_target_name", target, both, "", "where the kind is"},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_behind_service(attach, kinds);
    }
    static void generate(const EndpointsObject& endpoints, GeneratorContext& g) {
        endpoints_targets(endpoints, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
