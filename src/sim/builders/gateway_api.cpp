#include "k8s_sd/sim/gateway_api.hpp"

#include "k8s_sd/kind.hpp"
#include "sim/builders/json_members.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

constexpr std::string_view gateway_api_version = "gateway.networking.k8s.io/v1";

json::array accepted_condition(bool accepted) {
    return {json::object{{"type", "Accepted"},
                         {"status", accepted ? "True" : "False"},
                         {"reason", accepted ? "Accepted" : "NotAllowedByListeners"}}};
}

}  // namespace

void add_gateway_api(ApiServer& server, const std::vector<std::string>& versions) {
    for (const Kind kind : {Kind::gateway, Kind::httproute, Kind::grpcroute, Kind::tlsroute}) {
        const Resource& r = resource_of(kind);
        server.add_resource(
            {std::string(r.group), std::string(r.kind), std::string(r.plural), versions});
    }
}

// ---- Gateways -------------------------------------------------------------------------------

GatewayBuilder::GatewayBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder(gateway_api_version, "Gateway", ns, name) {
    class_name("example");
    array_in(spec(), "listeners");
}
GatewayBuilder& GatewayBuilder::class_name(std::string_view name) {
    spec()["gatewayClassName"] = name;
    return *this;
}
GatewayBuilder& GatewayBuilder::listener(std::string_view name, std::string_view protocol,
                                         unsigned short port, std::string_view hostname) {
    json::object added{{"name", name}, {"protocol", protocol}, {"port", port}};
    if (!hostname.empty()) added["hostname"] = hostname;
    if (protocol == "HTTPS" || protocol == "TLS")
        added["tls"] = json::object{{"mode", protocol == "TLS" ? "Passthrough" : "Terminate"}};
    array_in(spec(), "listeners").emplace_back(std::move(added));
    return routes_from("All");
}
json::object& GatewayBuilder::allowed_routes() {
    return object_in(last_in(spec(), "listeners", "a gateway has no listener yet"),
                     "allowedRoutes");
}
GatewayBuilder& GatewayBuilder::routes_from(std::string_view from) {
    object_in(allowed_routes(), "namespaces")["from"] = from;
    return *this;
}
GatewayBuilder& GatewayBuilder::route_kind(std::string_view kind) {
    array_in(allowed_routes(), "kinds").push_back(json::object{{"kind", kind}});
    return *this;
}
GatewayBuilder& GatewayBuilder::address(std::string_view value, std::string_view type) {
    array_in(status(), "addresses").push_back(json::object{{"type", type}, {"value", value}});
    return *this;
}
GatewayBuilder gateway(std::string_view ns, std::string_view name) { return {ns, name}; }

// ---- Routes ---------------------------------------------------------------------------------

RouteBuilder::RouteBuilder(std::string_view kind, std::string_view ns, std::string_view name)
    : MetadataBuilder(gateway_api_version, kind, ns, name) {
    spec();
}
RouteBuilder& RouteBuilder::parent(std::string_view gateway, std::string_view listener,
                                   std::string_view ns) {
    json::object reference{
        {"group", "gateway.networking.k8s.io"}, {"kind", "Gateway"}, {"name", gateway}};
    if (!listener.empty()) reference["sectionName"] = listener;
    if (!ns.empty()) reference["namespace"] = ns;
    array_in(spec(), "parentRefs").push_back(reference);
    array_in(status(), "parents")
        .push_back(json::object{{"parentRef", std::move(reference)},
                                {"controllerName", "example.com/gateway-controller"}});
    return accepted(true);
}
RouteBuilder& RouteBuilder::accepted(bool accepted) {
    last_in(status(), "parents", "a route has no parent yet")["conditions"] =
        accepted_condition(accepted);
    return *this;
}
RouteBuilder& RouteBuilder::hostname(std::string_view name) {
    array_in(spec(), "hostnames").emplace_back(name);
    return *this;
}
RouteBuilder& RouteBuilder::rule(json::object match) {
    array_in(spec(), "rules").push_back(json::object{{"matches", json::array{std::move(match)}}});
    return *this;
}
RouteBuilder& RouteBuilder::path(std::string_view path, std::string_view type) {
    return rule({{"path", json::object{{"type", type}, {"value", path}}}});
}
RouteBuilder& RouteBuilder::method(std::string_view service, std::string_view method) {
    json::object wanted{{"type", "Exact"}, {"service", service}};
    if (!method.empty()) wanted["method"] = method;
    return rule({{"method", std::move(wanted)}});
}
RouteBuilder http_route(std::string_view ns, std::string_view name) {
    return {"HTTPRoute", ns, name};
}
RouteBuilder grpc_route(std::string_view ns, std::string_view name) {
    return {"GRPCRoute", ns, name};
}
RouteBuilder tls_route(std::string_view ns, std::string_view name) {
    return {"TLSRoute", ns, name};
}

}  // namespace k8s_sd::inline v0::sim
