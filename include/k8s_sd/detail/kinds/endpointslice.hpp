#pragma once

#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/roles/endpointslice.hpp"

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::EndpointConditions> {
    using C = api::EndpointConditions;
    static constexpr std::tuple rows{
        Row<&C::ready>{"ready", 1, Use::labels},
        Row<&C::serving>{"serving", 2, Use::labels},
        Row<&C::terminating>{"terminating", 3, Use::labels},
    };
};

template <>
struct Table<api::ForZone> {
    static constexpr std::tuple rows{Row<&api::ForZone::name>{"name", 1}};
};

template <>
struct Table<api::ForNode> {
    static constexpr std::tuple rows{Row<&api::ForNode::name>{"name", 1}};
};

template <>
struct Table<api::EndpointHints> {
    using H = api::EndpointHints;
    static constexpr std::tuple rows{
        Row<&H::for_zones>{"forZones", 1},
        Row<&H::for_nodes>{"forNodes", 2},
    };
};

template <>
struct Table<api::Endpoint> {
    using E = api::Endpoint;
    static constexpr std::tuple rows{
        Row<&E::addresses>{"addresses", 1, Use::labels},
        Row<&E::conditions>{"conditions", 2, Use::labels},
        Row<&E::hostname>{"hostname", 3, Use::labels},
        Row<&E::target_ref>{"targetRef", 4, Use::labels},
        Row<&E::deprecated_topology>{"deprecatedTopology", 5, Use::labels},
        Row<&E::node_name>{"nodeName", 6, Use::labels},
        Row<&E::zone>{"zone", 7, Use::labels},
        Row<&E::hints>{"hints", 8},
        Row<&E::topology>{"topology", 0, Use::labels},  // v1beta1
    };
};

template <>
struct Table<api::EndpointSlicePort> {
    using P = api::EndpointSlicePort;
    static constexpr std::tuple rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::protocol>{"protocol", 2, Use::labels},
        Row<&P::port>{"port", 3, Use::labels},
        Row<&P::app_protocol>{"appProtocol", 4, Use::labels},
    };
};

template <>
struct KindTraits<Kind::endpointslice> {
    using Model = api::EndpointSlice;
    using LabelObject = EndpointSliceObject;
    static constexpr std::string_view older_versions[]{"v1beta1"};  // before Kubernetes 1.21
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::endpoints>{"endpoints", 2, Use::labels},
        Row<&Model::ports>{"ports", 3, Use::labels},
        Row<&Model::address_type>{"addressType", 4, Use::labels},
    };
};

// clang-format on

}  // namespace k8s_sd::inline v0::detail
