#pragma once

#include "k8s_sd/api/grpc_route.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/kinds/shared/route.hpp"
#include "k8s_sd/detail/kinds/shared/route_targets.hpp"

#include <set>
#include <string_view>
#include <tuple>
#include <vector>

namespace k8s_sd::inline v0::detail {

class GRPCRouteObject;

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::GRPCMethodMatch> {
    using M = api::GRPCMethodMatch;
    static constexpr FieldRows rows{
        Row<&M::type>{"type", 0, Use::labels},
        Row<&M::service>{"service", 0, Use::labels},
        Row<&M::method>{"method", 0, Use::labels},
    };
};

template <>
struct Table<api::GRPCRouteMatch> {
    static constexpr FieldRows rows{
        Row<&api::GRPCRouteMatch::method>{"method", 0, Use::labels},
    };
};

template <>
struct Table<api::GRPCRouteRule> {
    static constexpr FieldRows rows{
        Row<&api::GRPCRouteRule::matches>{"matches", 0, Use::labels},
    };
};

template <>
struct Table<api::GRPCRouteSpec> {
    using S = api::GRPCRouteSpec;
    static constexpr FieldRows rows{
        Row<&S::parent_refs>{"parentRefs", 0, Use::labels},
        Row<&S::hostnames>{"hostnames", 0, Use::labels},
        Row<&S::rules>{"rules", 0, Use::labels},
    };
};

template <>
struct KindTraits<Kind::grpcroute> {
    using Model = api::GRPCRoute;
    using LabelObject = GRPCRouteObject;
    static constexpr bool is_custom = true;
    // Before Gateway API 1.1.
    static constexpr std::string_view older_versions[]{"v1alpha2"};
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 0, Use::always},
        Row<&Model::spec>{"spec", 0, Use::labels},
        Row<&Model::status>{"status", 0, Use::labels},
    };
};

// clang-format on

inline constexpr MetadataNames grpcroute_metadata_names{
    {"__meta_kubernetes_grpcroute_label_", "__meta_kubernetes_grpcroute_labelpresent_"},
    {"__meta_kubernetes_grpcroute_annotation_", "__meta_kubernetes_grpcroute_annotationpresent_"}};

class GRPCRouteObject : public RouteObject {
 public:
    GRPCRouteObject(const api::GRPCRoute& route, const RoleOptions&, LabelFactory& factory)
        : RouteObject(Kind::grpcroute, route, "__meta_kubernetes_grpcroute_name",
                      grpcroute_metadata_names, factory) {
        // Several rules may match one method, by headers.
        std::set<std::tuple<std::string_view, std::string_view, std::string_view>> methods;
        const auto add = [&](const api::GRPCMethodMatch& match) {
            const std::string_view type = match.type.empty() ? "Exact" : match.type;
            if (!methods.emplace(type, match.service, match.method).second) return;
            matches.push_back(factory.block()
                                  .add("__meta_kubernetes_grpcroute_service", match.service)
                                  .add("__meta_kubernetes_grpcroute_method", match.method)
                                  .add("__meta_kubernetes_grpcroute_method_type", type)
                                  .make_shared());
        };
        for (const api::GRPCRouteRule& rule : route.spec.rules) {
            for (const api::GRPCRouteMatch& match : rule.matches)
                add(match.method.value_or(api::GRPCMethodMatch()));
            if (rule.matches.empty()) add({});
        }
    }
};

template <>
struct RoleTraits<Role::grpcroute> {
    using MainObject = GRPCRouteObject;
    static constexpr std::string_view source_prefix = "grpcroute/";
    static constexpr RouteNames names{"GRPCRoute", "__meta_kubernetes_grpcroute_hostname",
                                      LiteralName("__meta_kubernetes_grpcroute_scheme")};
    using enum LabelRow::Place;
    using enum LabelRow::Dialects;
    // clang-format off
    static constexpr LabelRow labels[] = {
        {"grpcroute_name", group, prometheus, "", ""},
        {"grpcroute_label_<key>", group, prometheus, "", "without that key"},
        {"grpcroute_annotation_<key>", group, prometheus, "", "without that key"},
        {"grpcroute_hostname", target, prometheus,
         "what route and listener have in common; empty for all hosts", ""},
        {"grpcroute_scheme", target, prometheus,
         "`https` where the listener ends TLS, else `http`", ""},
        {"grpcroute_service", target, prometheus, "empty for all services", ""},
        {"grpcroute_method", target, prometheus, "empty for all methods", ""},
        {"grpcroute_method_type", target, prometheus, "`Exact` or `RegularExpression`", ""},
        {"gateway_namespace", target, prometheus, "", ""},
    };
    // clang-format on
    static void add_needed_kinds(const AttachMetadata& attach, std::vector<Kind>& kinds) {
        add_kinds_behind_routes(attach, kinds);
    }
    static void generate(const GRPCRouteObject& route, GeneratorContext& g) {
        route_targets(route, names, g);
    }
};

}  // namespace k8s_sd::inline v0::detail
