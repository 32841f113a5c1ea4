#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

namespace k8s_sd::inline v0::detail::model {

struct ServicePort {
    std::string_view name, protocol;
    std::int64_t number = 0;
};

struct Service {
    ObjectMeta meta;
    std::string_view type, cluster_ip, external_name, load_balancer_ip;
    std::vector<ServicePort> ports;
};

}  // namespace k8s_sd::inline v0::detail::model
