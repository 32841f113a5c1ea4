#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/generic.hpp"

namespace k8s_sd::inline v0::detail {

/// Objects of all resources whose fields are not known. Their metadata are read like those of other
/// kinds if nothing else is wanted, and the rest as JSON, see read_generic().
template <>
struct KindTraits<any_other_kind> {
    using Model = Generic;
    static constexpr std::tuple rows{Row<&Model::metadata>{"metadata", 1, Use::always}};
};

}  // namespace k8s_sd::inline v0::detail
