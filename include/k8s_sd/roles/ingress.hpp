#pragma once

#include "k8s_sd/model/ingress.hpp"
#include "k8s_sd/roles/address.hpp"
#include "k8s_sd/roles/lookup.hpp"
#include "k8s_sd/roles/metadata.hpp"
#include "k8s_sd/roles/namespace.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace k8s_sd::detail {

inline constexpr MetadataNames ingress_metadata_names{
    {"__meta_kubernetes_ingress_label_", "__meta_kubernetes_ingress_labelpresent_"},
    {"__meta_kubernetes_ingress_annotation_", "__meta_kubernetes_ingress_annotationpresent_"}};

class IngressObject final : public Object {
 public:
    IngressObject(const model::Ingress& ingress, const LabelOptions& options, LabelFactory& factory);
    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const IngressObject&>(other);
        return metadata == o.metadata && same(class_name, o.class_name) &&
               std::equal(paths.begin(), paths.end(), o.paths.begin(), o.paths.end(),
                          [](const auto& a, const auto& b) { return same(a, b); });
    }

    LabelBlockPtr namespace_name;
    LabelBlockPtr ingress_name;
    LabelBlockPtr class_name;  // null where there is none
    Metadata metadata;
    std::vector<LabelBlockPtr> paths;  // one for each target
};

/// A wildcard stands for exactly one DNS label. A lone "*" matches a host of one label with
/// Prometheus and nothing with vmagent.
inline bool tls_host_matches(std::string_view pattern, std::string_view host,
                             const LabelOptions& options) {
    if (pattern == host) return true;
    const std::size_t dot = host.find('.');
    if (pattern == "*") return options.prometheus() && dot == std::string_view::npos;
    if (!pattern.starts_with("*.") || dot == std::string_view::npos) return false;
    return pattern.substr(1) == host.substr(dot);
}

inline std::string_view ingress_scheme(const model::Ingress& ingress, std::string_view host,
                                       const LabelOptions& options) {
    for (const model::IngressTls& tls : ingress.tls) {
        for (const std::string_view pattern : tls.hosts) {
            if (tls_host_matches(pattern, host, options)) return "https";
        }
    }
    return "http";
}

inline IngressObject::IngressObject(const model::Ingress& ingress, const LabelOptions& options,
                                    LabelFactory& factory)
    : Object(Kind::ingress, ingress.meta.uid),
      namespace_name(namespace_label(factory, ingress.meta.ns)),
      ingress_name(factory.row().add("__meta_kubernetes_ingress_name", ingress.meta.name).own()),
      metadata(make_metadata(ingress_metadata_names, ingress.meta, factory)) {
    set_key(namespace_name->value(0), ingress_name->value(0));
    if (ingress.class_name) {
        class_name =
            factory.row().add("__meta_kubernetes_ingress_class_name", *ingress.class_name).shared();
    }
    for (const model::IngressRule& rule : ingress.rules) {
        const auto add = [&](std::string_view path) {
            paths.push_back(
                factory.row()
                    .add(address_name, rule.host)
                    .add("__meta_kubernetes_ingress_scheme",
                         ingress_scheme(ingress, rule.host, options))
                    .add("__meta_kubernetes_ingress_host", rule.host)
                    .add("__meta_kubernetes_ingress_path", path.empty() ? "/" : path)
                    .own());
        };
        for (const model::IngressPath& path : rule.paths) add(path.path);
        // A rule with `http` but no path has no target with Prometheus and one with vmagent.
        if (rule.paths.empty() && (!rule.has_http || options.victoriametrics())) add("/");
    }
}

inline void ingress_targets(const IngressObject& ingress, Generation& g) {
    g.group.add(ingress.namespace_name).add(ingress.ingress_name).add(ingress.class_name);
    ingress.metadata.add_to(g.group);
    attach_namespace(g, ingress.ns());
    for (const LabelBlockPtr& path : ingress.paths) g.group.begin_target().add(path);
}

}  // namespace k8s_sd::detail
