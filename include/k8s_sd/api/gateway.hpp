#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// gateway.networking.k8s.io/v1 RouteGroupKind
struct RouteGroupKind {
    std::string_view group;  ///< empty: gateway.networking.k8s.io
    std::string_view kind;   ///< "HTTPRoute"
    bool operator==(const RouteGroupKind&) const = default;
};

/// gateway.networking.k8s.io/v1 RouteNamespaces, without the selector.
struct RouteNamespaces {
    std::string_view from;  ///< "Same" (also if empty), "All", "Selector" or "None"
    bool operator==(const RouteNamespaces&) const = default;
};

/// gateway.networking.k8s.io/v1 AllowedRoutes
struct AllowedRoutes {
    RouteNamespaces namespaces;
    std::vector<RouteGroupKind> kinds;  ///< empty: those of the protocol
    bool operator==(const AllowedRoutes&) const = default;
};

/// gateway.networking.k8s.io/v1 ListenerTLSConfig, without certificates.
struct ListenerTLSConfig {
    std::string_view mode;  ///< "Terminate" (also if empty) or "Passthrough"
    bool operator==(const ListenerTLSConfig&) const = default;
};

/// gateway.networking.k8s.io/v1 Listener
struct Listener {
    std::string_view name;
    std::string_view hostname;  ///< empty: any; "*.example.com" covers all names below
    std::int64_t port = 0;
    std::string_view protocol;  ///< "HTTP", "HTTPS", "TLS", "TCP", "UDP" or another one
    std::optional<ListenerTLSConfig> tls;
    AllowedRoutes allowed_routes;
    bool operator==(const Listener&) const = default;
};

/// gateway.networking.k8s.io/v1 GatewayStatusAddress
struct GatewayStatusAddress {
    std::string_view type;  ///< "IPAddress" (also if empty), "Hostname" or another one
    std::string_view value;
    bool operator==(const GatewayStatusAddress&) const = default;
};

/// gateway.networking.k8s.io/v1 GatewaySpec
struct GatewaySpec {
    std::string_view gateway_class_name;
    std::vector<Listener> listeners;
    bool operator==(const GatewaySpec&) const = default;
};

/// gateway.networking.k8s.io/v1 GatewayStatus
struct GatewayStatus {
    std::vector<GatewayStatusAddress> addresses;
    bool operator==(const GatewayStatus&) const = default;
};

/// gateway.networking.k8s.io/v1 Gateway
struct Gateway {
    ObjectMeta metadata;
    GatewaySpec spec;
    GatewayStatus status;
    bool operator==(const Gateway&) const = default;
};

template <>
inline constexpr Kind kind_of<Gateway> = Kind::gateway;

}  // namespace k8s_sd::inline v0::api
