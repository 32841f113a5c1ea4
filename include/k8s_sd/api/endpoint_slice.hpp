#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// discovery.k8s.io/v1 EndpointConditions. is_ready(), is_serving() and is_terminating() apply the
/// API's defaults for absent conditions.
struct EndpointConditions {
    std::optional<bool> ready;
    std::optional<bool> serving;
    std::optional<bool> terminating;

    /// Absent: ready.
    bool is_ready() const noexcept { return ready.value_or(true); }
    /// Ready, or it would be if it were not terminating. Absent: as `ready`.
    bool is_serving() const noexcept { return serving.value_or(is_ready()); }
    /// Absent: not terminating.
    bool is_terminating() const noexcept { return terminating.value_or(false); }
    bool operator==(const EndpointConditions&) const = default;
};

/// discovery.k8s.io/v1 ForZone
struct ForZone {
    std::string_view name;
    bool operator==(const ForZone&) const = default;
};

/// discovery.k8s.io/v1 ForNode
struct ForNode {
    std::string_view name;
    bool operator==(const ForNode&) const = default;
};

/// discovery.k8s.io/v1 EndpointHints: the intended clients of the endpoint.
struct EndpointHints {
    std::vector<ForZone> for_zones;
    std::vector<ForNode> for_nodes;
    bool operator==(const EndpointHints&) const = default;
};

/// discovery.k8s.io/v1 Endpoint
struct Endpoint {
    std::vector<std::string_view> addresses;  ///< addresses of one endpoint: use the first
    EndpointConditions conditions;
    std::optional<std::string_view> hostname;
    std::optional<std::string_view> node_name;
    std::optional<std::string_view> zone;
    EndpointHints hints;
    StringMap topology;                         ///< v1beta1
    StringMap deprecated_topology;              ///< v1, for objects created with v1beta1
    std::optional<ObjectReference> target_ref;  ///< usually the pod
    bool operator==(const Endpoint&) const = default;
};

/// discovery.k8s.io/v1 EndpointPort
struct EndpointSlicePort {
    std::optional<std::string_view> name;
    std::optional<std::string_view> protocol;  ///< absent: "TCP"
    std::optional<std::int64_t> port;          ///< absent: all ports
    std::optional<std::string_view> app_protocol;
    bool operator==(const EndpointSlicePort&) const = default;
};

/// discovery.k8s.io/v1 EndpointSlice: each endpoint has each port.
struct EndpointSlice {
    ObjectMeta metadata;
    std::string_view address_type;  ///< "IPv4", "IPv6" or "FQDN"
    std::vector<Endpoint> endpoints;
    std::vector<EndpointSlicePort> ports;

    /// Name of the service of this slice; empty if there is none.
    std::string_view service_name() const noexcept {
        return metadata.labels.find("kubernetes.io/service-name").value_or("");
    }
    bool operator==(const EndpointSlice&) const = default;
};

template <>
inline constexpr Kind kind_of<EndpointSlice> = Kind::endpointslice;

}  // namespace k8s_sd::inline v0::api
