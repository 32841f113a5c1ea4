#pragma once

#include "k8s_sd/api/service.hpp"
#include "k8s_sd/detail/codec/field_table.hpp"

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::LoadBalancerIngress> {
    using I = api::LoadBalancerIngress;
    static constexpr FieldRows rows{
        Row<&I::ip>{"ip", 1},
        Row<&I::hostname>{"hostname", 2},
    };
};

template <>
struct Table<api::LoadBalancerStatus> {
    static constexpr FieldRows rows{
        Row<&api::LoadBalancerStatus::ingress>{"ingress", 1},
    };
};

// clang-format on

}  // namespace k8s_sd::inline v0::detail
