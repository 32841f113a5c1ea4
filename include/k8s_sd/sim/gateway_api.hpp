#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// Adds the resources of Gateway API to a server, as their CustomResourceDefinitions do: Gateways,
/// HTTPRoutes, GRPCRoutes and TLSRoutes. A server lacks them at first.
/// \param versions  the served ones
K8S_SD_EXPORT void add_gateway_api(ApiServer&, const std::vector<std::string>& versions = {"v1"});

/// See gateway().
class K8S_SD_EXPORT GatewayBuilder : public MetadataBuilder<GatewayBuilder> {
 public:
    GatewayBuilder(std::string_view ns, std::string_view name);

    GatewayBuilder& class_name(std::string_view);
    /// Adds a listener for routes of all namespaces; with TLS for protocol HTTPS or TLS.
    GatewayBuilder& listener(std::string_view name, std::string_view protocol, unsigned short port,
                             std::string_view hostname = {});
    /// The namespaces of routes at the last listener: "Same", "Selector" …
    GatewayBuilder& routes_from(std::string_view);
    /// Adds a kind of routes to those of the last listener.
    GatewayBuilder& route_kind(std::string_view);
    /// Adds an address to the status.
    GatewayBuilder& address(std::string_view value, std::string_view type = "IPAddress");

 private:
    boost::json::object& allowed_routes();
};
/// A gateway of the class "example", without listeners and addresses.
K8S_SD_EXPORT GatewayBuilder gateway(std::string_view ns, std::string_view name);

/// See http_route().
class K8S_SD_EXPORT RouteBuilder : public MetadataBuilder<RouteBuilder> {
 public:
    RouteBuilder(std::string_view kind, std::string_view ns, std::string_view name);

    /// Adds a gateway that has accepted the route.
    /// \param listener  empty: each
    /// \param ns  empty: the namespace of the route
    RouteBuilder& parent(std::string_view gateway, std::string_view listener = {},
                         std::string_view ns = {});
    /// Whether the last gateway has accepted the route.
    RouteBuilder& accepted(bool);
    RouteBuilder& hostname(std::string_view);  ///< adds one
    /// Adds a rule to an HTTPRoute.
    RouteBuilder& path(std::string_view path, std::string_view type = "PathPrefix");
    /// Adds a rule to a GRPCRoute. \param method  empty: each method of the service
    RouteBuilder& method(std::string_view service, std::string_view method = {});

 private:
    RouteBuilder& rule(boost::json::object match);
};
/// An HTTPRoute without gateways, hostnames and rules.
K8S_SD_EXPORT RouteBuilder http_route(std::string_view ns, std::string_view name);
/// A GRPCRoute, likewise.
K8S_SD_EXPORT RouteBuilder grpc_route(std::string_view ns, std::string_view name);
/// A TLSRoute, likewise.
K8S_SD_EXPORT RouteBuilder tls_route(std::string_view ns, std::string_view name);

}  // namespace k8s_sd::inline v0::sim
