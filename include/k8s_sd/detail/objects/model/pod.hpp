#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

namespace k8s_sd::inline v0::detail::model {

struct ContainerPort {
    std::string_view name, protocol;
    std::int64_t number = 0;
};

struct Container {
    std::string_view name, image, restart_policy;
    std::vector<ContainerPort> ports;
};

struct ContainerStatus {
    std::string_view name, id;
    bool terminated = false;
};

struct PodCondition {
    std::string_view type, status;
};

struct Pod {
    ObjectMeta meta;
    std::string_view node_name, phase, pod_ip, host_ip;
    std::vector<Container> containers, init_containers;
    std::vector<ContainerStatus> container_statuses, init_container_statuses;
    std::vector<PodCondition> conditions;
};

}  // namespace k8s_sd::inline v0::detail::model
