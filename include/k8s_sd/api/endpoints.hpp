#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// core/v1 EndpointAddress
struct EndpointAddress {
    std::string_view ip;
    std::string_view hostname;
    std::string_view node_name;
    std::optional<ObjectReference> target_ref;
    bool operator==(const EndpointAddress&) const = default;
};

/// core/v1 EndpointPort
struct EndpointPort {
    std::string_view name;
    std::string_view protocol;  ///< "TCP", "UDP" or "SCTP"
    std::int64_t port = 0;
    std::string_view app_protocol;
    bool operator==(const EndpointPort&) const = default;
};

/// core/v1 EndpointSubset: each address has each port.
struct EndpointSubset {
    std::vector<EndpointAddress> addresses;
    std::vector<EndpointAddress> not_ready_addresses;
    std::vector<EndpointPort> ports;
    bool operator==(const EndpointSubset&) const = default;
};

/// core/v1 Endpoints
struct Endpoints {
    ObjectMeta metadata;
    std::vector<EndpointSubset> subsets;
    bool operator==(const Endpoints&) const = default;
};

template <>
inline constexpr Kind kind_of<Endpoints> = Kind::endpoints;

}  // namespace k8s_sd::inline v0::api
