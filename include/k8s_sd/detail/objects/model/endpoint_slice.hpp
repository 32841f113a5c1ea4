#pragma once

#include "k8s_sd/detail/objects/model/endpoints.hpp"

namespace k8s_sd::inline v0::detail::model {

struct EndpointConditions {
    std::optional<bool> ready, serving, terminating;
};

struct Endpoint {
    std::vector<std::string_view> addresses;
    EndpointConditions conditions;
    std::optional<std::string_view> hostname, node_name, zone;
    std::vector<std::pair<std::string_view, std::string_view>> topology;             // v1beta1
    std::vector<std::pair<std::string_view, std::string_view>> deprecated_topology;  // v1
    TargetReference target;
};

struct SlicePort {
    std::optional<std::string_view> name, protocol, app_protocol;
    std::optional<std::int64_t> number;
};

struct EndpointSlice {
    ObjectMeta meta;
    std::string_view address_type;
    std::vector<Endpoint> endpoints;
    std::vector<SlicePort> ports;
};

}  // namespace k8s_sd::inline v0::detail::model
