#pragma once

#include "k8s_sd/sim/gateway_api.hpp"
#include "support/role_fixture.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// A gateway with an address, and the listeners "http" and "https", without hostnames.
inline sim::GatewayBuilder two_listeners(std::string_view ns = "infra",
                                         std::string_view name = "edge") {
    return sim::gateway(ns, name)
        .listener("http", "HTTP", 80)
        .listener("https", "HTTPS", 443)
        .address("192.0.2.1");
}

/// The gateway infra/edge with an HTTP listener for each port, named by its index.
inline boost::json::object with_ports(std::initializer_list<int> ports) {
    auto builder = sim::gateway("infra", "edge").address("192.0.2.1");
    for (std::size_t i = 0; i < ports.size(); ++i) builder.listener(std::to_string(i), "HTTP", 80);
    boost::json::object gateway = builder;
    boost::json::array& listeners = gateway["spec"].at("listeners").as_array();
    for (std::size_t i = 0; i < ports.size(); ++i)
        listeners[i].as_object()["port"] = ports.begin()[i];
    return gateway;
}

/// Some gateways and routes, and the targets generated from them.
struct GatewayWorld : World {
    using World::World;

    GatewayWorld& put(Kind kind, const boost::json::object& object) {
        add(kind, boost::json::serialize(object));
        return *this;
    }
    GatewayWorld& put_gateway(const boost::json::object& object) {
        return put(Kind::gateway, object);
    }
    /// "listener address" of the targets of the gateway infra/edge.
    std::vector<std::string> listeners() {
        std::vector<std::string> all;
        for (const LabelMap& target : targets(Role::gateway, "infra", "edge"))
            all.push_back(value(target, "~gateway_listener_name") + " " +
                          value(target, "__address__"));
        return all;
    }
    /// "listener scheme://address/path" of the targets of the HTTPRoute shop/web.
    std::vector<std::string> urls(const boost::json::object& route) {
        put(Kind::httproute, route);
        std::vector<std::string> all;
        for (const LabelMap& target : targets(Role::httproute, "shop", "web")) {
            all.push_back(value(target, "~gateway_listener_name") + " " +
                          value(target, "~httproute_scheme") + "://" +
                          value(target, "__address__") + value(target, "~httproute_path"));
        }
        return all;
    }
};

/// The HTTPRoute shop/web.
inline sim::RouteBuilder web() { return sim::http_route("shop", "web"); }

}  // namespace k8s_sd::test
