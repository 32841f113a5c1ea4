#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/model/meta.hpp"
#include "k8s_sd/detail/roles/shared/namespace.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::namespace_> {
    using Model = model::MetadataOnly;
    static constexpr bool metadata_only = true;

    static Members members() { return object_members<Model>({}); }
    static ObjectPtr make(const Model& object, const RoleOptions&, LabelFactory& factory) {
        return new NamespaceObject(object.meta, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
