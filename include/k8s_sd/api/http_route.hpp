#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/api/route.hpp"

#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// gateway.networking.k8s.io/v1 HTTPPathMatch
struct HTTPPathMatch {
    std::string_view type;   ///< "PathPrefix" (also if empty), "Exact" or "RegularExpression"
    std::string_view value;  ///< empty: "/"
    bool operator==(const HTTPPathMatch&) const = default;
};

/// gateway.networking.k8s.io/v1 HTTPRouteMatch, without headers and query parameters.
struct HTTPRouteMatch {
    HTTPPathMatch path;
    std::string_view method;  ///< empty: any
    bool operator==(const HTTPRouteMatch&) const = default;
};

/// gateway.networking.k8s.io/v1 HTTPRouteRule, without filters and backends.
struct HTTPRouteRule {
    std::vector<HTTPRouteMatch> matches;  ///< empty: all requests
    bool operator==(const HTTPRouteRule&) const = default;
};

/// gateway.networking.k8s.io/v1 HTTPRouteSpec
struct HTTPRouteSpec {
    std::vector<ParentReference> parent_refs;
    std::vector<std::string_view> hostnames;  ///< empty: those of the listeners
    std::vector<HTTPRouteRule> rules;
    bool operator==(const HTTPRouteSpec&) const = default;
};

/// gateway.networking.k8s.io/v1 HTTPRoute
struct HTTPRoute {
    ObjectMeta metadata;
    HTTPRouteSpec spec;
    RouteStatus status;
    bool operator==(const HTTPRoute&) const = default;
};

template <>
inline constexpr Kind kind_of<HTTPRoute> = Kind::httproute;

}  // namespace k8s_sd::inline v0::api
