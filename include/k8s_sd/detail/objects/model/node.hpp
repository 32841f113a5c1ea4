#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

namespace k8s_sd::inline v0::detail::model {

struct NodeAddress {
    std::string_view type, address;
};

struct Node {
    ObjectMeta meta;
    std::string_view provider_id;
    std::vector<NodeAddress> addresses;
    std::int64_t kubelet_port = 0;
};

}  // namespace k8s_sd::inline v0::detail::model
