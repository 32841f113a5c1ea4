#pragma once

#include "k8s_sd/api/tls_route.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/kinds/shared/route.hpp"
#include "k8s_sd/detail/kinds/shared/route_targets.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

class TLSRouteObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::TLSRouteSpec> {
    using S = api::TLSRouteSpec;
    static constexpr FieldRows rows{
        Row<&S::parent_refs>{"parentRefs", 0, Use::labels},
        Row<&S::hostnames>{"hostnames", 0, Use::labels},
    };
};

template <>
struct KindTraits<Kind::tlsroute> {
    using Model = api::TLSRoute;
    using LabelObject = TLSRouteObject;
    static constexpr bool is_custom = true;
    // Before Gateway API 1.5.
    static constexpr std::string_view older_versions[]{"v1alpha3", "v1alpha2"};
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 0, Use::always},
        Row<&Model::spec>{"spec", 0, Use::labels},
        Row<&Model::status>{"status", 0, Use::labels},
    };
};

// clang-format on

inline constexpr MetadataNames tlsroute_metadata_names{
    {"__meta_kubernetes_tlsroute_label_", "__meta_kubernetes_tlsroute_labelpresent_"},
    {"__meta_kubernetes_tlsroute_annotation_", "__meta_kubernetes_tlsroute_annotationpresent_"}};

class TLSRouteObject : public RouteObject {
 public:
    TLSRouteObject(const api::TLSRoute& route, const RoleOptions&, LabelFactory& factory)
        : RouteObject(Kind::tlsroute, route, "__meta_kubernetes_tlsroute_name",
                      tlsroute_metadata_names, factory) {
        matches.emplace_back();  // each connection, by hostname only
    }
};

template <>
struct RoleTraits<Role::tlsroute> {
    using MainObject = TLSRouteObject;
    static constexpr std::string_view source_prefix = "tlsroute/";
    static constexpr RouteNames names{"TLSRoute", "__meta_kubernetes_tlsroute_hostname",
                                      std::nullopt};
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"tlsroute_name", group, prometheus, "", ""},
        {"tlsroute_label_<key>", group, prometheus, "", "without that key"},
        {"tlsroute_annotation_<key>", group, prometheus, "", "without that key"},
        {"tlsroute_hostname", target, prometheus,
         "what route and listener have in common; empty for all hosts", ""},
        {"gateway_namespace", target, prometheus, "", ""},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_behind_routes(attach, kinds);
    }
    static void generate(const TLSRouteObject& route, GeneratorContext& g) {
        route_targets(route, names, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
