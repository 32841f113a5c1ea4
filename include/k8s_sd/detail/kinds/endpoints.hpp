#pragma once

#include "k8s_sd/api/endpoints.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/roles/endpoints.hpp"

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::EndpointAddress> {
    using A = api::EndpointAddress;
    static constexpr std::tuple rows{
        Row<&A::ip>{"ip", 1, Use::labels},
        Row<&A::target_ref>{"targetRef", 2, Use::labels},
        Row<&A::hostname>{"hostname", 3, Use::labels},
        Row<&A::node_name>{"nodeName", 4, Use::labels},
    };
};

template <>
struct Table<api::EndpointPort> {
    using P = api::EndpointPort;
    static constexpr std::tuple rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::port>{"port", 2, Use::labels},
        Row<&P::protocol>{"protocol", 3, Use::labels},
        Row<&P::app_protocol>{"appProtocol", 4},
    };
};

template <>
struct Table<api::EndpointSubset> {
    using S = api::EndpointSubset;
    static constexpr std::tuple rows{
        Row<&S::addresses>{"addresses", 1, Use::labels},
        Row<&S::not_ready_addresses>{"notReadyAddresses", 2, Use::labels},
        Row<&S::ports>{"ports", 3, Use::labels},
    };
};

template <>
struct KindTraits<Kind::endpoints> {
    using Model = api::Endpoints;
    using LabelObject = EndpointsObject;
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::subsets>{"subsets", 2, Use::labels},
    };
};

// clang-format on

}  // namespace k8s_sd::inline v0::detail
