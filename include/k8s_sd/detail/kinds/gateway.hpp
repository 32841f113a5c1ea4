#pragma once

#include "k8s_sd/api/gateway.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/namespace_.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/gateway_listener.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"
#include "k8s_sd/detail/text/url_text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

class GatewayObject;

// The tables are laid out by hand: one field a line. Without numbers: a custom resource has no
// protobuf form.
// clang-format off

template <>
struct Table<api::RouteGroupKind> {
    using K = api::RouteGroupKind;
    static constexpr FieldRows rows{
        Row<&K::group>{"group", 0, Use::labels},
        Row<&K::kind>{"kind", 0, Use::labels},
    };
};

template <>
struct Table<api::RouteNamespaces> {
    static constexpr FieldRows rows{
        Row<&api::RouteNamespaces::from>{"from", 0, Use::labels},
    };
};

template <>
struct Table<api::AllowedRoutes> {
    using A = api::AllowedRoutes;
    static constexpr FieldRows rows{
        Row<&A::namespaces>{"namespaces", 0, Use::labels},
        Row<&A::kinds>{"kinds", 0, Use::labels},
    };
};

template <>
struct Table<api::ListenerTLSConfig> {
    static constexpr FieldRows rows{
        Row<&api::ListenerTLSConfig::mode>{"mode", 0, Use::labels},
    };
};

template <>
struct Table<api::Listener> {
    using L = api::Listener;
    static constexpr FieldRows rows{
        Row<&L::name>{"name", 0, Use::labels},
        Row<&L::hostname>{"hostname", 0, Use::labels},
        Row<&L::port>{"port", 0, Use::labels},
        Row<&L::protocol>{"protocol", 0, Use::labels},
        Row<&L::tls>{"tls", 0, Use::labels},
        Row<&L::allowed_routes>{"allowedRoutes", 0, Use::labels},
    };
};

template <>
struct Table<api::GatewayStatusAddress> {
    using A = api::GatewayStatusAddress;
    static constexpr FieldRows rows{
        Row<&A::type>{"type", 0, Use::labels},
        Row<&A::value>{"value", 0, Use::labels},
    };
};

template <>
struct Table<api::GatewaySpec> {
    using S = api::GatewaySpec;
    static constexpr FieldRows rows{
        Row<&S::gateway_class_name>{"gatewayClassName", 0, Use::labels},
        Row<&S::listeners>{"listeners", 0, Use::labels},
    };
};

template <>
struct Table<api::GatewayStatus> {
    static constexpr FieldRows rows{
        Row<&api::GatewayStatus::addresses>{"addresses", 0, Use::labels},
    };
};

template <>
struct KindTraits<Kind::gateway> {
    using Model = api::Gateway;
    using LabelObject = GatewayObject;
    static constexpr bool is_custom = true;
    // Before Gateway API 1.0.
    static constexpr std::string_view older_versions[]{"v1beta1"};
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 0, Use::always},
        Row<&Model::spec>{"spec", 0, Use::labels},
        Row<&Model::status>{"status", 0, Use::labels},
    };
};

// clang-format on

inline constexpr MetadataNames gateway_metadata_names{
    {"__meta_kubernetes_gateway_label_", "__meta_kubernetes_gateway_labelpresent_"},
    {"__meta_kubernetes_gateway_annotation_", "__meta_kubernetes_gateway_annotationpresent_"}};

class GatewayObject : public LabelObject {
 public:
    GatewayObject(const api::Gateway& gateway, const RoleOptions& options, LabelFactory& factory);
    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const GatewayObject&>(other);
        return metadata == o.metadata && same(class_name, o.class_name) &&
               same(addresses, o.addresses) && address == o.address && listeners == o.listeners;
    }

    LabelBlockPtr namespace_name;
    LabelBlockPtr gateway_name;
    LabelBlockPtr class_name;
    LabelBlockPtr addresses;  // null: none
    Metadata metadata;
    std::string address;  // the first one to connect to; empty: none
    std::vector<GatewayListener> listeners;

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {namespace_name, gateway_name, class_name, addresses});
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
    }
};

inline GatewayObject::GatewayObject(const api::Gateway& gateway, const RoleOptions&,
                                    LabelFactory& factory)
    : LabelObject(Kind::gateway, gateway.metadata.uid),
      namespace_name(namespace_label(factory, gateway.metadata.namespace_)),
      gateway_name(
          factory.block().add("__meta_kubernetes_gateway_name", gateway.metadata.name).make()),
      class_name(factory.block()
                     .add("__meta_kubernetes_gateway_class_name", gateway.spec.gateway_class_name)
                     .make_shared()),
      metadata(make_metadata(gateway_metadata_names, gateway.metadata, factory)) {
    set_key(namespace_name->only_value(), gateway_name->only_value());
    std::string joined;
    for (const api::GatewayStatusAddress& a : gateway.status.addresses) {
        if (a.value.empty()) continue;
        const bool reachable = a.type.empty() || a.type == "IPAddress" || a.type == "Hostname";
        if (address.empty() && reachable) address = a.value;
        (joined += joined.empty() ? "" : ",") += a.value;
    }
    addresses = factory.block().add_if("__meta_kubernetes_gateway_addresses", joined).make();
    for (const api::Listener& listener : gateway.spec.listeners) {
        factory.count_entry<GatewayListener>();
        listeners.push_back(make_listener(listener, factory));
    }
}

/// The host to connect to for a hostname of a listener or route; empty: unknown.
inline std::string_view connected_host(std::string_view hostname, const GatewayObject& gateway) {
    return hostname.empty() ? std::string_view(gateway.address) : hostname;
}

inline void add_gateway_labels(const GatewayObject& gateway, GeneratorContext& g) {
    g.group.add(gateway.gateway_name).add(gateway.class_name).add(gateway.addresses);
    gateway.metadata.add_to(g.group);
}

inline void gateway_targets(const GatewayObject& gateway, GeneratorContext& g) {
    g.group.add(gateway.namespace_name);
    add_gateway_labels(gateway, g);
    attach_namespace(g, gateway.ns());
    add_targets(g, [&] {
        for (const GatewayListener& listener : gateway.listeners) {
            const std::string_view host = connected_host(listener.hostname, gateway);
            if (g.group.overfull()) return;
            if (host.empty() || !listener.has_valid_port()) continue;
            g.group.begin_target(join_host_port(host, listener.port)).add(listener.labels);
        }
    });
}

template <>
struct RoleTraits<Role::gateway> {
    using MainObject = GatewayObject;
    static constexpr std::string_view source_prefix = "gateway/";
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"gateway_name", group, prometheus, "", ""},
        {"gateway_class_name", group, prometheus, "", ""},
        {"gateway_addresses", group, prometheus,
         "those of the status, joined by commas", "while the gateway has none"},
        {"gateway_label_<key>", group, prometheus, "", "without that key"},
        {"gateway_annotation_<key>", group, prometheus, "", "without that key"},
        {"gateway_listener_name", target, prometheus, "", ""},
        {"gateway_listener_hostname", target, prometheus,
         "empty for a listener of all hosts", ""},
        {"gateway_listener_port", target, prometheus, "", ""},
        {"gateway_listener_protocol", target, prometheus,
         "`HTTP`, `HTTPS`, `TLS`, `TCP`, `UDP` or another one", ""},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_attached_to_objects(attach, kinds);
    }
    static void generate(const GatewayObject& gateway, GeneratorContext& g) {
        gateway_targets(gateway, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
