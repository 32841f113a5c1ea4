#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

namespace k8s_sd::inline v0::detail::model {

/// The object behind an address; what core/v1 calls ObjectReference.
struct TargetReference {
    bool present = false;
    std::string_view kind, ns, name;
};

struct EndpointAddress {
    std::string_view ip, hostname, node_name;
    TargetReference target;
};

struct EndpointPort {
    std::string_view name, protocol;
    std::int64_t number = 0;
};

struct EndpointSubset {
    std::vector<EndpointAddress> addresses, not_ready_addresses;
    std::vector<EndpointPort> ports;
};

struct Endpoints {
    ObjectMeta meta;
    std::vector<EndpointSubset> subsets;
};

}  // namespace k8s_sd::inline v0::detail::model
