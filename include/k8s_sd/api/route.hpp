#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// gateway.networking.k8s.io/v1 ParentReference: a Gateway or one of its listeners.
struct ParentReference {
    std::optional<std::string_view> group;  ///< nullopt: gateway.networking.k8s.io
    std::optional<std::string_view> kind;   ///< nullopt: Gateway
    std::string_view namespace_;            ///< empty: that of the route
    std::string_view name;
    std::string_view section_name;     ///< of the listener; empty: each
    std::optional<std::int64_t> port;  ///< of the listener; nullopt: any
    bool operator==(const ParentReference&) const = default;
};

/// meta/v1 Condition of a route at a parent.
struct RouteCondition {
    std::string_view type;    ///< "Accepted", "ResolvedRefs" ...
    std::string_view status;  ///< "True", "False" or "Unknown"
    std::string_view reason;
    bool operator==(const RouteCondition&) const = default;
};

/// gateway.networking.k8s.io/v1 RouteParentStatus
struct RouteParentStatus {
    ParentReference parent_ref;
    std::string_view controller_name;
    std::vector<RouteCondition> conditions;
    bool operator==(const RouteParentStatus&) const = default;
};

/// gateway.networking.k8s.io/v1 RouteStatus
struct RouteStatus {
    std::vector<RouteParentStatus> parents;
    bool operator==(const RouteStatus&) const = default;
};

}  // namespace k8s_sd::inline v0::api
