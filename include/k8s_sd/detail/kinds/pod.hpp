#pragma once

#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/roles/pod.hpp"

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ContainerPort> {
    using P = api::ContainerPort;
    static constexpr std::tuple rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::host_port>{"hostPort", 2},
        Row<&P::container_port>{"containerPort", 3, Use::labels},
        Row<&P::protocol>{"protocol", 4, Use::labels},
    };
};

template <>
struct Table<api::Container> {
    using C = api::Container;
    static constexpr std::tuple rows{
        Row<&C::name>{"name", 1, Use::labels},
        Row<&C::image>{"image", 2, Use::labels},
        Row<&C::ports>{"ports", 6, Use::labels},
        Row<&C::restart_policy>{"restartPolicy", 24, Use::labels},
    };
};

template <>
struct Table<api::EphemeralContainer> {
    using C = api::EphemeralContainer;
    static constexpr std::tuple rows{
        Inlined{1, std::tuple{
            Row<&C::name>{"name", 1},
            Row<&C::image>{"image", 2},
        }},
        Row<&C::target_container_name>{"targetContainerName", 2},
    };
};

template <>
struct Table<api::ContainerStateWaiting> {
    using S = api::ContainerStateWaiting;
    static constexpr std::tuple rows{
        Row<&S::reason>{"reason", 1},
        Row<&S::message>{"message", 2},
    };
};

template <>
struct Table<api::ContainerStateRunning> {
    static constexpr std::tuple rows{
        Row<&api::ContainerStateRunning::started_at>{"startedAt", 1},
    };
};

template <>
struct Table<api::ContainerStateTerminated> {
    using S = api::ContainerStateTerminated;
    static constexpr std::tuple rows{
        Row<&S::exit_code>{"exitCode", 1},
        Row<&S::signal>{"signal", 2},
        Row<&S::reason>{"reason", 3},
        Row<&S::message>{"message", 4},
        Row<&S::started_at>{"startedAt", 5},
        Row<&S::finished_at>{"finishedAt", 6},
        Row<&S::container_id>{"containerID", 7},
    };
};

template <>
struct Table<api::ContainerState> {
    using S = api::ContainerState;
    static constexpr std::tuple rows{
        Row<&S::waiting>{"waiting", 1},
        Row<&S::running>{"running", 2},
        Row<&S::terminated>{"terminated", 3, Use::labels},
    };
};

template <>
struct Table<api::ContainerStatus> {
    using S = api::ContainerStatus;
    static constexpr std::tuple rows{
        Row<&S::name>{"name", 1, Use::labels},
        Row<&S::state>{"state", 2, Use::labels},
        Row<&S::last_state>{"lastState", 3},
        Row<&S::ready>{"ready", 4},
        Row<&S::restart_count>{"restartCount", 5},
        Row<&S::image>{"image", 6},
        Row<&S::image_id>{"imageID", 7},
        Row<&S::container_id>{"containerID", 8, Use::labels},
        Row<&S::started>{"started", 9},
    };
};

template <>
struct Table<api::PodCondition> {
    using C = api::PodCondition;
    static constexpr std::tuple rows{
        Row<&C::type>{"type", 1, Use::labels},
        Row<&C::status>{"status", 2, Use::labels},
        Row<&C::last_transition_time>{"lastTransitionTime", 4},
        Row<&C::reason>{"reason", 5},
        Row<&C::message>{"message", 6},
    };
};

template <>
struct Table<api::PodIP> {
    static constexpr std::tuple rows{Row<&api::PodIP::ip>{"ip", 1}};
};

template <>
struct Table<api::PodSpec> {
    using S = api::PodSpec;
    static constexpr std::tuple rows{
        Row<&S::containers>{"containers", 2, Use::labels},
        Row<&S::restart_policy>{"restartPolicy", 3},
        Row<&S::service_account_name>{"serviceAccountName", 8},
        Row<&S::node_name>{"nodeName", 10, Use::labels},
        Row<&S::host_network>{"hostNetwork", 11},
        Row<&S::hostname>{"hostname", 16},
        Row<&S::subdomain>{"subdomain", 17},
        Row<&S::scheduler_name>{"schedulerName", 19},
        Row<&S::init_containers>{"initContainers", 20, Use::labels},
        Row<&S::priority_class_name>{"priorityClassName", 24},
        Row<&S::runtime_class_name>{"runtimeClassName", 29},
        Row<&S::ephemeral_containers>{"ephemeralContainers", 34},
    };
};

template <>
struct Table<api::PodStatus> {
    using S = api::PodStatus;
    static constexpr std::tuple rows{
        Row<&S::phase>{"phase", 1, Use::labels},
        Row<&S::conditions>{"conditions", 2, Use::labels},
        Row<&S::message>{"message", 3},
        Row<&S::reason>{"reason", 4},
        Row<&S::host_ip>{"hostIP", 5, Use::labels},
        Row<&S::pod_ip>{"podIP", 6, Use::labels},
        Row<&S::start_time>{"startTime", 7},
        Row<&S::container_statuses>{"containerStatuses", 8, Use::labels},
        Row<&S::qos_class>{"qosClass", 9},
        Row<&S::init_container_statuses>{"initContainerStatuses", 10, Use::labels},
        Row<&S::pod_ips>{"podIPs", 12},
        Row<&S::ephemeral_container_statuses>{"ephemeralContainerStatuses", 13},
        Row<&S::host_ips>{"hostIPs", 16},
    };
};

template <>
struct KindTraits<Kind::pod> {
    using Model = api::Pod;
    using LabelObject = PodObject;
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3, Use::labels},
    };
};

// clang-format on

}  // namespace k8s_sd::inline v0::detail
