#pragma once

#include "k8s_sd/api/http_route.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/kinds/shared/route.hpp"
#include "k8s_sd/detail/kinds/shared/route_targets.hpp"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class HTTPRouteObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::HTTPPathMatch> {
    using P = api::HTTPPathMatch;
    static constexpr FieldRows rows{
        Row<&P::type>{"type", 0, Use::labels},
        Row<&P::value>{"value", 0, Use::labels},
    };
};

template <>
struct Table<api::HTTPRouteMatch> {
    using M = api::HTTPRouteMatch;
    static constexpr FieldRows rows{
        Row<&M::path>{"path", 0, Use::labels},
        Row<&M::method>{"method"},
    };
};

template <>
struct Table<api::HTTPRouteRule> {
    static constexpr FieldRows rows{
        Row<&api::HTTPRouteRule::matches>{"matches", 0, Use::labels},
    };
};

template <>
struct Table<api::HTTPRouteSpec> {
    using S = api::HTTPRouteSpec;
    static constexpr FieldRows rows{
        Row<&S::parent_refs>{"parentRefs", 0, Use::labels},
        Row<&S::hostnames>{"hostnames", 0, Use::labels},
        Row<&S::rules>{"rules", 0, Use::labels},
    };
};

template <>
struct KindTraits<Kind::httproute> {
    using Model = api::HTTPRoute;
    using LabelObject = HTTPRouteObject;
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

inline constexpr MetadataNames httproute_metadata_names{
    {"__meta_kubernetes_httproute_label_", "__meta_kubernetes_httproute_labelpresent_"},
    {"__meta_kubernetes_httproute_annotation_", "__meta_kubernetes_httproute_annotationpresent_"}};

class HTTPRouteObject : public RouteObject {
 public:
    HTTPRouteObject(const api::HTTPRoute& route, const RoleOptions&, LabelFactory& factory)
        : RouteObject(Kind::httproute, route, "__meta_kubernetes_httproute_name",
                      httproute_metadata_names, factory) {
        // Several rules may match one path, by headers or methods.
        std::set<std::pair<std::string_view, std::string_view>> paths;
        const auto add = [&](const api::HTTPPathMatch& path) {
            const std::string_view type = path.type.empty() ? "PathPrefix" : path.type;
            const std::string_view value = path.value.empty() ? "/" : path.value;
            if (!paths.emplace(type, value).second) return;
            matches.push_back(factory.block()
                                  .add("__meta_kubernetes_httproute_path", value)
                                  .add("__meta_kubernetes_httproute_path_type", type)
                                  .make_shared());
        };
        for (const api::HTTPRouteRule& rule : route.spec.rules) {
            for (const api::HTTPRouteMatch& match : rule.matches) add(match.path);
            if (rule.matches.empty()) add({});
        }
        if (route.spec.rules.empty()) add({});
    }
};

template <>
struct RoleTraits<Role::httproute> {
    using MainObject = HTTPRouteObject;
    static constexpr std::string_view source_prefix = "httproute/";
    static constexpr RouteNames names{"HTTPRoute", "__meta_kubernetes_httproute_hostname",
                                      LiteralName("__meta_kubernetes_httproute_scheme")};
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"httproute_name", group, prometheus, "", ""},
        {"httproute_label_<key>", group, prometheus, "", "without that key"},
        {"httproute_annotation_<key>", group, prometheus, "", "without that key"},
        {"httproute_hostname", target, prometheus,
         "what route and listener have in common; empty for all hosts", ""},
        {"httproute_scheme", target, prometheus,
         "`https` where the listener ends TLS, else `http`", ""},
        {"httproute_path", target, prometheus, "`/` where the rule states none", ""},
        {"httproute_path_type", target, prometheus,
         "`PathPrefix`, `Exact` or `RegularExpression`", ""},
        {"gateway_namespace", target, prometheus, "", ""},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_behind_routes(attach, kinds);
    }
    static void generate(const HTTPRouteObject& route, GeneratorContext& g) {
        route_targets(route, names, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
