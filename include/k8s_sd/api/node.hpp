#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// core/v1 Taint
struct Taint {
    std::string_view key;
    std::string_view value;
    std::string_view effect;  ///< "NoSchedule", "PreferNoSchedule" or "NoExecute"
    bool operator==(const Taint&) const = default;
};

/// core/v1 NodeSpec
struct NodeSpec {
    std::string_view provider_id;
    std::string_view pod_cidr;
    std::vector<std::string_view> pod_cidrs;
    bool unschedulable = false;  ///< cordoned
    std::vector<Taint> taints;
    bool operator==(const NodeSpec&) const = default;
};

/// core/v1 NodeAddress
struct NodeAddress {
    std::string_view type;  ///< "Hostname", "InternalIP", "ExternalIP", …
    std::string_view address;
    bool operator==(const NodeAddress&) const = default;
};

/// core/v1 NodeCondition, without lastHeartbeatTime, which changes constantly.
struct NodeCondition {
    std::string_view type;    ///< e.g. "Ready", "MemoryPressure"
    std::string_view status;  ///< "True", "False" or "Unknown"
    std::string_view reason;
    std::string_view message;
    std::optional<Time> last_transition_time;
    bool operator==(const NodeCondition&) const = default;
};

/// core/v1 DaemonEndpoint
struct DaemonEndpoint {
    std::int64_t port = 0;
    bool operator==(const DaemonEndpoint&) const = default;
};

/// core/v1 NodeDaemonEndpoints
struct NodeDaemonEndpoints {
    DaemonEndpoint kubelet_endpoint;
    bool operator==(const NodeDaemonEndpoints&) const = default;
};

/// core/v1 NodeSystemInfo
struct NodeSystemInfo {
    std::string_view machine_id;
    std::string_view system_uuid;
    std::string_view boot_id;
    std::string_view kernel_version;
    std::string_view os_image;
    std::string_view container_runtime_version;
    std::string_view kubelet_version;
    std::string_view operating_system;
    std::string_view architecture;
    bool operator==(const NodeSystemInfo&) const = default;
};

/// core/v1 NodeStatus
struct NodeStatus {
    StringMap capacity;     ///< quantities as written: "cpu" is "16"
    StringMap allocatable;  ///< capacity available to pods
    std::vector<NodeCondition> conditions;
    std::vector<NodeAddress> addresses;
    NodeDaemonEndpoints daemon_endpoints;
    NodeSystemInfo node_info;
    bool operator==(const NodeStatus&) const = default;
};

/// core/v1 Node
struct Node {
    ObjectMeta metadata;
    NodeSpec spec;
    NodeStatus status;
    bool operator==(const Node&) const = default;
};

template <>
inline constexpr Kind kind_of<Node> = Kind::node;

}  // namespace k8s_sd::inline v0::api
