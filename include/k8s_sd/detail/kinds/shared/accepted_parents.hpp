#pragma once

#include "k8s_sd/api/route.hpp"
#include "k8s_sd/detail/kinds/shared/gateway_listener.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A gateway, or some of its listeners, as the parent of a route.
struct RouteParent {
    std::string ns;
    std::string name;
    std::string section;  ///< the name of the listener; empty: each
    std::optional<std::int64_t> port;

    auto operator<=>(const RouteParent&) const = default;
    bool same_gateway(const RouteParent& other) const {
        return ns == other.ns && name == other.name;
    }
    bool selects(const GatewayListener& listener) const {
        return (section.empty() || section == listener.name) && (!port || *port == listener.port);
    }
};

/// Sorted, unique: parents of one gateway are adjacent.
using AcceptedParents = std::vector<RouteParent>;

/// nullopt: not a gateway.
inline std::optional<RouteParent> read_parent(const api::ParentReference& reference,
                                              std::string_view own_ns) {
    const bool is_gateway = reference.group.value_or(gateway_api_group) == gateway_api_group &&
                            reference.kind.value_or("Gateway") == "Gateway";
    if (!is_gateway) return std::nullopt;
    const std::string_view ns = reference.namespace_.empty() ? own_ns : reference.namespace_;
    return RouteParent{std::string(ns), std::string(reference.name),
                       std::string(reference.section_name), reference.port};
}

inline bool is_accepted(const api::RouteParentStatus& status) {
    return std::any_of(status.conditions.begin(), status.conditions.end(),
                       [](const auto& c) { return c.type == "Accepted" && c.status == "True"; });
}

inline void sort_unique(AcceptedParents& parents) {
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
}

/// The parents in the spec that their controller has accepted. The status of a removed parent may
/// still exist.
inline AcceptedParents accepted_parents(const std::vector<api::ParentReference>& references,
                                        const api::RouteStatus& status, std::string_view own_ns) {
    AcceptedParents accepted;
    for (const api::RouteParentStatus& parent : status.parents) {
        if (!is_accepted(parent)) continue;
        if (auto read = read_parent(parent.parent_ref, own_ns)) accepted.push_back(*read);
    }
    sort_unique(accepted);
    AcceptedParents parents;
    for (const api::ParentReference& reference : references) {
        auto read = read_parent(reference, own_ns);
        if (read && std::binary_search(accepted.begin(), accepted.end(), *read))
            parents.push_back(std::move(*read));
    }
    sort_unique(parents);
    return parents;
}

}  // namespace k8s_sd::inline v0::detail
