#pragma once

#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/roles/shared/namespace.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct Table<api::NamespaceStatus> {
    static constexpr std::tuple rows{Row<&api::NamespaceStatus::phase>{"phase", 1}};
};

template <>
struct KindTraits<Kind::namespace_> {
    using Model = api::Namespace;
    using LabelObject = NamespaceObject;
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::status>{"status", 3},
    };
};

}  // namespace k8s_sd::inline v0::detail
