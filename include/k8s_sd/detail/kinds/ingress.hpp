#pragma once

#include "k8s_sd/api/ingress.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/namespace_.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/load_balancer.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

class IngressObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ServiceBackendPort> {
    using P = api::ServiceBackendPort;
    static constexpr FieldRows rows{
        Row<&P::name>{"name", 1},
        Row<&P::number>{"number", 2},
    };
};

template <>
struct Table<api::IngressServiceBackend> {
    using B = api::IngressServiceBackend;
    static constexpr FieldRows rows{
        Row<&B::name>{"name", 1},
        Row<&B::port>{"port", 2},
    };
};

template <>
struct Table<api::IngressBackend> {
    static constexpr FieldRows rows{Row<&api::IngressBackend::service>{"service", 4}};
};

template <>
struct Table<api::HTTPIngressPath> {
    using P = api::HTTPIngressPath;
    static constexpr FieldRows rows{
        Row<&P::path>{"path", 1, Use::labels},
        Row<&P::backend>{"backend", 2},
        Row<&P::path_type>{"pathType", 3},
    };
};

template <>
struct Table<api::HTTPIngressRuleValue> {
    static constexpr FieldRows rows{
        Row<&api::HTTPIngressRuleValue::paths>{"paths", 1, Use::labels},
    };
};

template <>
struct Table<api::IngressRule> {
    using R = api::IngressRule;
    static constexpr FieldRows rows{
        Row<&R::host>{"host", 1, Use::labels},
        Inlined{2, FieldRows{Row<&R::http>{"http", 1, Use::labels}}},
    };
};

template <>
struct Table<api::IngressTLS> {
    using T = api::IngressTLS;
    static constexpr FieldRows rows{
        Row<&T::hosts>{"hosts", 1, Use::labels},
        Row<&T::secret_name>{"secretName", 2},
    };
};

template <>
struct Table<api::IngressSpec> {
    using S = api::IngressSpec;
    static constexpr FieldRows rows{
        Row<&S::default_backend>{"defaultBackend", 1},
        Row<&S::tls>{"tls", 2, Use::labels},
        Row<&S::rules>{"rules", 3, Use::labels},
        Row<&S::ingress_class_name>{"ingressClassName", 4, Use::labels},
    };
};

template <>
struct Table<api::IngressStatus> {
    static constexpr FieldRows rows{
        Row<&api::IngressStatus::load_balancer>{"loadBalancer", 1},
    };
};

template <>
struct KindTraits<Kind::ingress> {
    using Model = api::Ingress;
    using LabelObject = IngressObject;
    static constexpr std::string_view older_versions[]{"v1beta1"};  // before Kubernetes 1.19
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3},
    };
};

// clang-format on

inline constexpr MetadataNames ingress_metadata_names{
    {"__meta_kubernetes_ingress_label_", "__meta_kubernetes_ingress_labelpresent_"},
    {"__meta_kubernetes_ingress_annotation_", "__meta_kubernetes_ingress_annotationpresent_"}};

class IngressObject : public LabelObject {
 public:
    IngressObject(const api::Ingress& ingress, const RoleOptions& options, LabelFactory& factory);
    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const IngressObject&>(other);
        return metadata == o.metadata && same(class_name, o.class_name) &&
               std::equal(paths.begin(), paths.end(), o.paths.begin(), o.paths.end(),
                          [](const auto& a, const auto& b) { return same(a, b); });
    }

    LabelBlockPtr namespace_name;
    LabelBlockPtr ingress_name;
    LabelBlockPtr class_name;  // null: none
    Metadata metadata;
    std::vector<LabelBlockPtr> paths;  // one per target

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {namespace_name, ingress_name, class_name});
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
    }
};

using TlsHosts = boost::unordered_flat_set<std::string_view, SeededHash>;

/// A wildcard matches exactly one DNS label.
inline std::string_view ingress_scheme(const TlsHosts& tls_hosts, std::string_view host,
                                       const RoleOptions& options) {
    const std::size_t dot = host.find('.');
    bool tls = tls_hosts.contains(host);
    if (dot != std::string_view::npos) {
        tls = tls || tls_hosts.contains("*" + std::string(host.substr(dot)));
    } else if (options.rules->lone_wildcard_covers_one_label) {
        tls = tls || tls_hosts.contains("*");
    }
    return tls ? "https" : "http";
}

inline IngressObject::IngressObject(const api::Ingress& ingress, const RoleOptions& options,
                                    LabelFactory& factory)
    : LabelObject(Kind::ingress, ingress.metadata.uid),
      namespace_name(namespace_label(factory, ingress.metadata.namespace_)),
      ingress_name(
          factory.block().add("__meta_kubernetes_ingress_name", ingress.metadata.name).make()),
      metadata(make_metadata(ingress_metadata_names, ingress.metadata, factory)) {
    set_key(namespace_name->only_value(), ingress_name->only_value());
    if (ingress.spec.ingress_class_name) {
        class_name =
            factory.block()
                .add("__meta_kubernetes_ingress_class_name", *ingress.spec.ingress_class_name)
                .make_shared();
    }
    TlsHosts tls_hosts;
    for (const api::IngressTLS& tls : ingress.spec.tls) {
        tls_hosts.insert(tls.hosts.begin(), tls.hosts.end());
    }
    for (const api::IngressRule& rule : ingress.spec.rules) {
        const std::string_view scheme = ingress_scheme(tls_hosts, rule.host, options);
        const auto add = [&](std::string_view path) {
            paths.push_back(factory.block()
                                .add(address_name, rule.host)
                                .add("__meta_kubernetes_ingress_scheme", scheme)
                                .add("__meta_kubernetes_ingress_host", rule.host)
                                .add("__meta_kubernetes_ingress_path", path.empty() ? "/" : path)
                                .make());
        };
        if (rule.http) {
            for (const api::HTTPIngressPath& path : rule.http->paths) add(path.path);
        }
        const bool has_paths = rule.http && !rule.http->paths.empty();
        const bool has_default = !rule.http || options.rules->http_rule_without_paths_is_a_target;
        if (!has_paths && has_default) add("/");
    }
}

inline void ingress_targets(const IngressObject& ingress, GeneratorContext& g) {
    g.group.add(ingress.namespace_name).add(ingress.ingress_name).add(ingress.class_name);
    ingress.metadata.add_to(g.group);
    attach_namespace(g, ingress.ns());
    add_targets(g, [&] {
        for (const LabelBlockPtr& path : ingress.paths) g.group.begin_target().add(path);
    });
}

template <>
struct RoleTraits<Role::ingress> {
    using MainObject = IngressObject;
    static constexpr std::string_view source_prefix = "ingress/";
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"ingress_name", group, both, "", ""},
        {"ingress_class_name", group, both, "", "where the ingress states none"},
        {"ingress_label_<key>", group, both, "", "without that key"},
        {"ingress_annotation_<key>", group, both, "", "without that key"},
        {"ingress_scheme", target, both,
         "`https` where a TLS entry covers the host, else `http`", ""},
        {"ingress_host", target, both, "empty for a rule of all hosts", ""},
        {"ingress_path", target, both, "`/` where the rule states none", ""},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_attached_to_objects(attach, kinds);
    }
    static void generate(const IngressObject& ingress, GeneratorContext& g) {
        ingress_targets(ingress, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
