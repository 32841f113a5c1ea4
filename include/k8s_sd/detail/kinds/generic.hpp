#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/objects/generic.hpp"

namespace k8s_sd::inline v0::detail {

/// Objects of resources with unknown fields. If only metadata is wanted, it is read like that of
/// known kinds; otherwise the whole object is read as JSON, see read_generic().
template <>
struct KindTraits<any_other_kind> {
    using Model = Generic;
    static constexpr std::tuple rows{Row<&Model::metadata>{"metadata", 1, Use::always}};
};

}  // namespace k8s_sd::inline v0::detail
