#pragma once

#include "k8s_sd/api/route.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/gateway_listener.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"

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

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ParentReference> {
    using P = api::ParentReference;
    static constexpr FieldRows rows{
        Row<&P::group>{"group", 0, Use::labels},
        Row<&P::kind>{"kind", 0, Use::labels},
        Row<&P::namespace_>{"namespace", 0, Use::labels},
        Row<&P::name>{"name", 0, Use::labels},
        Row<&P::section_name>{"sectionName", 0, Use::labels},
        Row<&P::port>{"port", 0, Use::labels},
    };
};

template <>
struct Table<api::RouteCondition> {
    using C = api::RouteCondition;
    static constexpr FieldRows rows{
        Row<&C::type>{"type", 0, Use::labels},
        Row<&C::status>{"status", 0, Use::labels},
        Row<&C::reason>{"reason"},
    };
};

template <>
struct Table<api::RouteParentStatus> {
    using S = api::RouteParentStatus;
    static constexpr FieldRows rows{
        Row<&S::parent_ref>{"parentRef", 0, Use::labels},
        Row<&S::controller_name>{"controllerName"},
        Row<&S::conditions>{"conditions", 0, Use::labels},
    };
};

template <>
struct Table<api::RouteStatus> {
    static constexpr FieldRows rows{
        Row<&api::RouteStatus::parents>{"parents", 0, Use::labels},
    };
};

// clang-format on

/// A route: its labels, the parents with the listeners of its targets, and what it matches.
class RouteObject : public LabelObject {
 public:
    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        const auto& o = static_cast<const RouteObject&>(other);
        return metadata == o.metadata && parents == o.parents && hostnames == o.hostnames &&
               std::equal(matches.begin(), matches.end(), o.matches.begin(), o.matches.end(),
                          [](const auto& a, const auto& b) { return same(a, b); });
    }

    LabelBlockPtr namespace_name;
    LabelBlockPtr route_name;
    Metadata metadata;
    AcceptedParents parents;
    std::vector<std::string> hostnames;  // not empty; "": all
    std::vector<LabelBlockPtr> matches;  // a target for each; null: no labels

 protected:
    template <class Route>
    RouteObject(Kind kind, const Route& route, LiteralName name_label, MetadataNames names,
                LabelFactory& factory)
        : LabelObject(kind, route.metadata.uid),
          namespace_name(namespace_label(factory, route.metadata.namespace_)),
          route_name(factory.block().add(name_label, route.metadata.name).make()),
          metadata(make_metadata(names, route.metadata, factory)),
          parents(
              accepted_parents(route.spec.parent_refs, route.status, route.metadata.namespace_)),
          hostnames(route.spec.hostnames.begin(), route.spec.hostnames.end()) {
        set_key(namespace_name->only_value(), route_name->only_value());
        if (hostnames.empty()) hostnames.emplace_back();
    }

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), {namespace_name, route_name});
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
    }
};

}  // namespace k8s_sd::inline v0::detail
