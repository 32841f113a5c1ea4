#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/api/route.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// gateway.networking.k8s.io/v1 GRPCMethodMatch
struct GRPCMethodMatch {
    std::string_view type;     ///< "Exact" (also if empty) or "RegularExpression"
    std::string_view service;  ///< empty: any
    std::string_view method;   ///< empty: any
    bool operator==(const GRPCMethodMatch&) const = default;
};

/// gateway.networking.k8s.io/v1 GRPCRouteMatch, without headers.
struct GRPCRouteMatch {
    std::optional<GRPCMethodMatch> method;
    bool operator==(const GRPCRouteMatch&) const = default;
};

/// gateway.networking.k8s.io/v1 GRPCRouteRule, without filters and backends.
struct GRPCRouteRule {
    std::vector<GRPCRouteMatch> matches;  ///< empty: all requests
    bool operator==(const GRPCRouteRule&) const = default;
};

/// gateway.networking.k8s.io/v1 GRPCRouteSpec
struct GRPCRouteSpec {
    std::vector<ParentReference> parent_refs;
    std::vector<std::string_view> hostnames;  ///< empty: those of the listeners
    std::vector<GRPCRouteRule> rules;
    bool operator==(const GRPCRouteSpec&) const = default;
};

/// gateway.networking.k8s.io/v1 GRPCRoute
struct GRPCRoute {
    ObjectMeta metadata;
    GRPCRouteSpec spec;
    RouteStatus status;
    bool operator==(const GRPCRoute&) const = default;
};

template <>
inline constexpr Kind kind_of<GRPCRoute> = Kind::grpcroute;

}  // namespace k8s_sd::inline v0::api
