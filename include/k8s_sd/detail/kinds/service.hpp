#pragma once

#include "k8s_sd/api/service.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/namespace_.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/load_balancer.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

class ServiceObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ServicePort> {
    using P = api::ServicePort;
    static constexpr FieldRows rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::protocol>{"protocol", 2, Use::labels},
        Row<&P::port>{"port", 3, Use::labels},
        Row<&P::node_port>{"nodePort", 5},
        Row<&P::app_protocol>{"appProtocol", 6},
    };
};

template <>
struct Table<api::ServiceSpec> {
    using S = api::ServiceSpec;
    static constexpr FieldRows rows{
        Row<&S::ports>{"ports", 1, Use::labels},
        Row<&S::selector>{"selector", 2},
        Row<&S::cluster_ip>{"clusterIP", 3, Use::labels},
        Row<&S::type>{"type", 4, Use::labels},
        Row<&S::external_ips>{"externalIPs", 5},
        Row<&S::session_affinity>{"sessionAffinity", 7},
        Row<&S::load_balancer_ip>{"loadBalancerIP", 8, Use::labels},
        Row<&S::external_name>{"externalName", 10, Use::labels},
        Row<&S::external_traffic_policy>{"externalTrafficPolicy", 11},
        Row<&S::health_check_node_port>{"healthCheckNodePort", 12},
        Row<&S::publish_not_ready_addresses>{"publishNotReadyAddresses", 13},
        Row<&S::ip_family_policy>{"ipFamilyPolicy", 17},
        Row<&S::cluster_ips>{"clusterIPs", 18},
        Row<&S::ip_families>{"ipFamilies", 19},
        Row<&S::load_balancer_class>{"loadBalancerClass", 21},
        Row<&S::internal_traffic_policy>{"internalTrafficPolicy", 22},
        Row<&S::traffic_distribution>{"trafficDistribution", 23},
    };
};

template <>
struct Table<api::ServiceStatus> {
    static constexpr FieldRows rows{
        Row<&api::ServiceStatus::load_balancer>{"loadBalancer", 1},
    };
};

template <>
struct KindTraits<Kind::service> {
    using Model = api::Service;
    using LabelObject = ServiceObject;
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3},
    };
    static Fields version_fields(const VersionRules& rules) {
        Fields fields;
        if (rules.skips_second_ip_family) fields.add({"spec.ipFamilyPolicy", "spec.ipFamilies"});
        if (rules.reads_load_balancer_status) fields.add({"status.loadBalancer.ingress.ip"});
        return fields;
    }
};

// clang-format on

inline constexpr MetadataNames service_metadata_names{
    {"__meta_kubernetes_service_label_", "__meta_kubernetes_service_labelpresent_"},
    {"__meta_kubernetes_service_annotation_", "__meta_kubernetes_service_annotationpresent_"}};

class ServiceObject : public LabelObject {
 public:
    ServiceObject(const api::Service& service, const RoleOptions& options, LabelFactory& factory);

    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const ServiceObject&>(other);
        return metadata == o.metadata && same(type, o.type) &&
               same(load_balancer, o.load_balancer) && same(ip_family, o.ip_family) &&
               std::equal(ports.begin(), ports.end(), o.ports.begin(), o.ports.end(),
                          [](const auto& a, const auto& b) { return same(a, b); });
    }

    LabelBlockPtr namespace_name;
    LabelBlockPtr service_name;
    LabelBlockPtr type;           // with the cluster IP or external name
    LabelBlockPtr load_balancer;  // null: no such label
    LabelBlockPtr ip_family;      // address type of the slices with targets; null: all of them
    Metadata metadata;
    std::vector<LabelBlockPtr> ports;  // address and port labels

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {namespace_name, service_name, type, load_balancer});
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
    }
};

inline LabelBlockPtr service_type(const api::Service& service, LabelFactory& factory) {
    auto labels = factory.block();
    labels.add("__meta_kubernetes_service_type", service.spec.type);
    if (service.spec.type == "ExternalName") {
        labels.add("__meta_kubernetes_service_external_name", service.spec.external_name);
    } else {
        labels.add("__meta_kubernetes_service_cluster_ip", service.spec.cluster_ip);
    }
    return labels.make();
}

/// \param options  select the source
inline std::string load_balancer_ip(const api::Service& service, const RoleOptions& options) {
    std::string ips;
    if (options.version_rules->reads_load_balancer_status) {
        for (const api::LoadBalancerIngress& ingress : service.status.load_balancer.ingress) {
            if (ingress.ip.empty()) continue;
            (ips += ips.empty() ? "" : ",") += ingress.ip;
        }
    }
    return ips.empty() ? std::string(service.spec.load_balancer_ip) : ips;
}

inline LabelBlockPtr needed_ip_family(const api::ServiceSpec& spec, const RoleOptions& options,
                                      LabelFactory& factory) {
    const bool dual_stack =
        spec.ip_family_policy == "PreferDualStack" || spec.ip_family_policy == "RequireDualStack";
    const bool needs_first =
        options.version_rules->skips_second_ip_family && dual_stack && !spec.ip_families.empty();
    return needs_first ? address_type_label(factory, spec.ip_families.front()) : nullptr;
}

inline ServiceObject::ServiceObject(const api::Service& service, const RoleOptions& options,
                                    LabelFactory& factory)
    : LabelObject(Kind::service, service.metadata.uid),
      namespace_name(namespace_label(factory, service.metadata.namespace_)),
      service_name(
          factory.block().add("__meta_kubernetes_service_name", service.metadata.name).make()),
      type(service_type(service, factory)),
      ip_family(needed_ip_family(service.spec, options, factory)),
      metadata(make_metadata(service_metadata_names, service.metadata, factory)) {
    set_key(namespace_name->only_value(), service_name->only_value());
    if (options.rules->writes_load_balancer_ip && service.spec.type == "LoadBalancer") {
        load_balancer = factory.block()
                            .add("__meta_kubernetes_service_loadbalancer_ip",
                                 load_balancer_ip(service, options))
                            .make();
    }
    const std::string host = std::string(name()) + "." + std::string(ns()) + ".svc";
    for (const api::ServicePort& port : service.spec.ports) {
        ports.push_back(factory.block()
                            .add(address_name, join_host_port(host, port.port))
                            .add("__meta_kubernetes_service_port_name", port.name)
                            .add("__meta_kubernetes_service_port_number", std::to_string(port.port))
                            .add("__meta_kubernetes_service_port_protocol", port.protocol)
                            .make());
    }
}

inline void service_targets(const ServiceObject& service, GeneratorContext& g) {
    g.group.add(service.namespace_name).add(service.service_name).add(service.type);
    g.group.add(service.load_balancer);
    service.metadata.add_to(g.group);
    attach_namespace(g, service.ns());
    add_targets(g, [&] {
        for (const LabelBlockPtr& port : service.ports) g.group.begin_target().add(port);
    });
}

/// Adds a service's labels to the targets of its endpoints.
inline void add_service_labels(const ServiceObject& service, GeneratorContext& g) {
    g.group.add(service.service_name);
    service.metadata.add_to(g.group);
    if (g.options.rules->endpoints_get_service_type) g.group.add(service.type);
}

template <>
struct RoleTraits<Role::service> {
    using MainObject = ServiceObject;
    static constexpr std::string_view source_prefix = "svc/";  // not "service/"
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"service_name", group, both, "", ""},
        {"service_type", group, both, "", ""},
        {"service_cluster_ip", group, both, "", "for type `ExternalName`"},
        {"service_external_name", group, both, "", "for all types but `ExternalName`"},
        {"service_loadbalancer_ip", group, prometheus,
         "`spec.loadBalancerIP`; since 3.15 the addresses in the status, if there are any",
         "for all types but `LoadBalancer`"},
        {"service_label_<key>", group, both, "", "without that key"},
        {"service_annotation_<key>", group, both, "", "without that key"},
        {"service_port_name", target, both, "empty for a port without a name", ""},
        {"service_port_number", target, both, "", ""},
        {"service_port_protocol", target, both, "", ""},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_attached_to_objects(attach, kinds);
    }
    static void generate(const ServiceObject& service, GeneratorContext& g) {
        service_targets(service, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
