#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// core/v1 ContainerPort
struct ContainerPort {
    std::string_view name;
    std::int64_t container_port = 0;
    std::int64_t host_port = 0;  ///< 0: none
    std::string_view protocol;   ///< "TCP", "UDP" or "SCTP"
    bool operator==(const ContainerPort&) const = default;
};

/// core/v1 Container
struct Container {
    std::string_view name;
    std::string_view image;
    std::vector<ContainerPort> ports;
    /// For an init container: "Always" makes it a sidecar.
    std::string_view restart_policy;
    bool operator==(const Container&) const = default;
};

/// core/v1 EphemeralContainer, added to a running pod by `kubectl debug`.
struct EphemeralContainer {
    std::string_view name;
    std::string_view image;
    std::string_view target_container_name;
    bool operator==(const EphemeralContainer&) const = default;
};

/// core/v1 ContainerStateWaiting
struct ContainerStateWaiting {
    std::string_view reason;  ///< e.g. "ContainerCreating", "CrashLoopBackOff"
    std::string_view message;
    bool operator==(const ContainerStateWaiting&) const = default;
};

/// core/v1 ContainerStateRunning
struct ContainerStateRunning {
    std::optional<Time> started_at;
    bool operator==(const ContainerStateRunning&) const = default;
};

/// core/v1 ContainerStateTerminated
struct ContainerStateTerminated {
    std::int64_t exit_code = 0;
    std::int64_t signal = 0;  ///< 0: none
    std::string_view reason;  ///< e.g. "Completed", "Error", "OOMKilled"
    std::string_view message;
    std::optional<Time> started_at;
    std::optional<Time> finished_at;
    std::string_view container_id;
    bool operator==(const ContainerStateTerminated&) const = default;
};

/// core/v1 ContainerState: at most one member is present. None is the same as waiting.
struct ContainerState {
    std::optional<ContainerStateWaiting> waiting;
    std::optional<ContainerStateRunning> running;
    std::optional<ContainerStateTerminated> terminated;
    bool operator==(const ContainerState&) const = default;
};

/// core/v1 ContainerStatus
struct ContainerStatus {
    std::string_view name;
    std::string_view image;  ///< the running image; may differ from the specification
    std::string_view image_id;
    std::string_view container_id;  ///< "containerd://…"; empty before the first start
    ContainerState state;
    ContainerState last_state;  ///< how the previous instance ended
    bool ready = false;
    std::optional<bool> started;  ///< absent: unknown
    std::int64_t restart_count = 0;
    bool operator==(const ContainerStatus&) const = default;
};

/// core/v1 PodCondition
struct PodCondition {
    std::string_view type;    ///< e.g. "Ready", "ContainersReady", "PodScheduled"
    std::string_view status;  ///< "True", "False" or "Unknown"
    std::string_view reason;
    std::string_view message;
    std::optional<Time> last_transition_time;
    bool operator==(const PodCondition&) const = default;
};

/// core/v1 PodIP
struct PodIP {
    std::string_view ip;
    bool operator==(const PodIP&) const = default;
};

/// core/v1 PodSpec
struct PodSpec {
    std::string_view node_name;  ///< empty: not scheduled yet
    std::string_view service_account_name;
    std::string_view scheduler_name;
    std::string_view priority_class_name;
    std::string_view runtime_class_name;
    std::string_view restart_policy;  ///< "Always", "OnFailure" or "Never"
    std::string_view hostname;
    std::string_view subdomain;
    bool host_network = false;
    std::vector<Container> containers;
    std::vector<Container> init_containers;
    std::vector<EphemeralContainer> ephemeral_containers;
    bool operator==(const PodSpec&) const = default;
};

/// core/v1 PodStatus
struct PodStatus {
    std::string_view phase;  ///< "Pending", "Running", "Succeeded", "Failed" or "Unknown"
    std::string_view reason;
    std::string_view message;
    std::string_view pod_ip;  ///< empty: none yet
    std::vector<PodIP> pod_ips;
    std::string_view host_ip;
    std::vector<PodIP> host_ips;
    std::string_view qos_class;  ///< "Guaranteed", "Burstable" or "BestEffort"
    std::optional<Time> start_time;
    std::vector<PodCondition> conditions;
    std::vector<ContainerStatus> container_statuses;
    std::vector<ContainerStatus> init_container_statuses;
    std::vector<ContainerStatus> ephemeral_container_statuses;
    bool operator==(const PodStatus&) const = default;
};

/// core/v1 Pod
struct Pod {
    ObjectMeta metadata;
    PodSpec spec;
    PodStatus status;
    bool operator==(const Pod&) const = default;
};

template <>
inline constexpr Kind kind_of<Pod> = Kind::pod;

}  // namespace k8s_sd::inline v0::api
