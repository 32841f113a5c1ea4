#pragma once

#include "k8s_sd/api/route.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/shared/accepted_parents.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ParentReference> {
    using P = api::ParentReference;
    static constexpr std::tuple rows{
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
    static constexpr std::tuple rows{
        Row<&C::type>{"type", 0, Use::labels},
        Row<&C::status>{"status", 0, Use::labels},
        Row<&C::reason>{"reason"},
    };
};

template <>
struct Table<api::RouteParentStatus> {
    using S = api::RouteParentStatus;
    static constexpr std::tuple rows{
        Row<&S::parent_ref>{"parentRef", 0, Use::labels},
        Row<&S::controller_name>{"controllerName"},
        Row<&S::conditions>{"conditions", 0, Use::labels},
    };
};

template <>
struct Table<api::RouteStatus> {
    static constexpr std::tuple rows{
        Row<&api::RouteStatus::parents>{"parents", 0, Use::labels},
    };
};

// clang-format on

/// A route: its labels, the parents with the listeners of its targets, and what it matches.
class RouteObject : public Object {
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
        : Object(kind, route.metadata.uid),
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
