#pragma once

#include "k8s_sd/api/node.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/roles/node.hpp"

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::Taint> {
    using T = api::Taint;
    static constexpr std::tuple rows{
        Row<&T::key>{"key", 1},
        Row<&T::value>{"value", 2},
        Row<&T::effect>{"effect", 3},
    };
};

template <>
struct Table<api::NodeSpec> {
    using S = api::NodeSpec;
    static constexpr std::tuple rows{
        Row<&S::pod_cidr>{"podCIDR", 1},
        Row<&S::provider_id>{"providerID", 3, Use::labels},
        Row<&S::unschedulable>{"unschedulable", 4},
        Row<&S::taints>{"taints", 5},
        Row<&S::pod_cidrs>{"podCIDRs", 7},
    };
};

template <>
struct Table<api::NodeCondition> {
    using C = api::NodeCondition;
    static constexpr std::tuple rows{
        Row<&C::type>{"type", 1},
        Row<&C::status>{"status", 2},
        Row<&C::last_transition_time>{"lastTransitionTime", 4},
        Row<&C::reason>{"reason", 5},
        Row<&C::message>{"message", 6},
    };
};

template <>
struct Table<api::NodeAddress> {
    using A = api::NodeAddress;
    static constexpr std::tuple rows{
        Row<&A::type>{"type", 1, Use::labels},
        Row<&A::address>{"address", 2, Use::labels},
    };
};

template <>
struct Table<api::DaemonEndpoint> {
    static constexpr std::tuple rows{
        Row<&api::DaemonEndpoint::port>{"Port", 1, Use::labels},
    };
};

template <>
struct Table<api::NodeDaemonEndpoints> {
    static constexpr std::tuple rows{
        Row<&api::NodeDaemonEndpoints::kubelet_endpoint>{"kubeletEndpoint", 1, Use::labels},
    };
};

template <>
struct Table<api::NodeSystemInfo> {
    using I = api::NodeSystemInfo;
    static constexpr std::tuple rows{
        Row<&I::machine_id>{"machineID", 1},
        Row<&I::system_uuid>{"systemUUID", 2},
        Row<&I::boot_id>{"bootID", 3},
        Row<&I::kernel_version>{"kernelVersion", 4},
        Row<&I::os_image>{"osImage", 5},
        Row<&I::container_runtime_version>{"containerRuntimeVersion", 6},
        Row<&I::kubelet_version>{"kubeletVersion", 7},
        Row<&I::operating_system>{"operatingSystem", 9},
        Row<&I::architecture>{"architecture", 10},
    };
};

template <>
struct Table<api::NodeStatus> {
    using S = api::NodeStatus;
    static constexpr std::tuple rows{
        Row<&S::capacity>{"capacity", 1, Use::hosts, Format::quantities},
        Row<&S::allocatable>{"allocatable", 2, Use::hosts, Format::quantities},
        Row<&S::conditions>{"conditions", 4},
        Row<&S::addresses>{"addresses", 5, Use::labels},
        Row<&S::daemon_endpoints>{"daemonEndpoints", 6, Use::labels},
        Row<&S::node_info>{"nodeInfo", 7},
    };
};

template <>
struct KindTraits<Kind::node> {
    using Model = api::Node;
    using LabelObject = NodeObject;
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3, Use::labels},
    };
};

// clang-format on

}  // namespace k8s_sd::inline v0::detail
