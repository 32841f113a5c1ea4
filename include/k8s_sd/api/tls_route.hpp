#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/api/route.hpp"

#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// gateway.networking.k8s.io/v1 TLSRouteSpec, without rules.
struct TLSRouteSpec {
    std::vector<ParentReference> parent_refs;
    std::vector<std::string_view> hostnames;  ///< empty: those of the listeners
    bool operator==(const TLSRouteSpec&) const = default;
};

/// gateway.networking.k8s.io/v1 TLSRoute
struct TLSRoute {
    ObjectMeta metadata;
    TLSRouteSpec spec;
    RouteStatus status;
    bool operator==(const TLSRoute&) const = default;
};

template <>
inline constexpr Kind kind_of<TLSRoute> = Kind::tlsroute;

}  // namespace k8s_sd::inline v0::api
