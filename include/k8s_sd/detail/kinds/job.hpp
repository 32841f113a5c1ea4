#pragma once

#include "k8s_sd/api/owners.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/workload.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::job> {
    using Model = api::Job;
    using LabelObject = WorkloadLink;
    static constexpr Use labels = Use::owners;
    static constexpr FieldRows rows{Row<&Model::metadata>{"metadata", 1, Use::always}};
};

}  // namespace k8s_sd::inline v0::detail
