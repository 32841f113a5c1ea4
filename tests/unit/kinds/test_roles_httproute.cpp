#include "support/gateway_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

using Urls = std::vector<std::string>;

/// A world with the gateway of two_listeners().
struct Routed : GatewayWorld {
    Routed() { put_gateway(two_listeners()); }
};

std::string numbered(std::string_view prefix, int i) {
    return std::string(prefix) + std::to_string(i) + ".example.com";
}

/// Each listener is for one hostname: h0.example.com and so on.
sim::GatewayBuilder many_listeners(std::string_view name, int count) {
    auto gateway = sim::gateway("infra", name);
    for (int i = 0; i < count; ++i)
        gateway.listener(std::to_string(i), "HTTP", 80, numbered("h", i));
    return gateway;
}

boost::json::object with_spec(boost::json::object route, std::string_view member,
                              boost::json::value value) {
    route["spec"].as_object()[member] = std::move(value);
    return route;
}

}  // namespace

TEST_CASE("Role httproute: each hostname and path at each listener is a target") {
    Routed world;
    CHECK(world.urls(web()
                         .parent("edge", "", "infra")
                         .hostname("a.example.com")
                         .hostname("b.example.com")
                         .path("/")
                         .path("/cart", "Exact")) ==
          Urls{"http http://a.example.com:80/", "http http://a.example.com:80/cart",
               "http http://b.example.com:80/", "http http://b.example.com:80/cart",
               "https https://a.example.com:443/", "https https://a.example.com:443/cart",
               "https https://b.example.com:443/", "https https://b.example.com:443/cart"});
}

TEST_CASE("Role httproute: the group has the route's labels, a target those of its listener") {
    GatewayWorld world;
    world.put_gateway(sim::gateway("infra", "edge")
                          .class_name("envoy")
                          .label("team", "net")
                          .listener("web", "HTTPS", 8443, "*.example.com")
                          .address("192.0.2.1"));
    world.put(Kind::httproute, web()
                                   .label("app", "web")
                                   .annotation("probe", "yes")
                                   .parent("edge", "web", "infra")
                                   .hostname("a.example.com")
                                   .path("/x"));
    const auto group = world.group(Role::httproute, "shop", "web");
    REQUIRE(group != nullptr);
    CHECK(group->source() == "httproute/shop/web");
    CHECK(group->labels().to_map() == labels({{"~namespace", "shop"}, {"~httproute_name", "web"}}) +
                                          family("httproute_label", {{"app", "web"}}) +
                                          family("httproute_annotation", {{"probe", "yes"}}));
    REQUIRE(group->size() == 1);
    CHECK((*group)[0].to_map() == labels({{"__address__", "a.example.com:8443"},
                                          {"~httproute_hostname", "a.example.com"},
                                          {"~httproute_scheme", "https"},
                                          {"~httproute_path", "/x"},
                                          {"~httproute_path_type", "PathPrefix"},
                                          {"~gateway_namespace", "infra"},
                                          {"~gateway_name", "edge"},
                                          {"~gateway_class_name", "envoy"},
                                          {"~gateway_addresses", "192.0.2.1"},
                                          {"~gateway_listener_name", "web"},
                                          {"~gateway_listener_hostname", "*.example.com"},
                                          {"~gateway_listener_port", "8443"},
                                          {"~gateway_listener_protocol", "HTTPS"}}) +
                                      family("gateway_label", {{"team", "net"}}));
}

TEST_CASE("Role httproute: hostnames are those that route and listener have in common") {
    GatewayWorld world;
    world.put_gateway(sim::gateway("infra", "edge")
                          .listener("any", "HTTP", 80)
                          .listener("wild", "HTTP", 81, "*.example.com")
                          .listener("one", "HTTP", 82, "a.example.com")
                          .address("192.0.2.1"));
    const auto at_all = [] { return web().parent("edge", "", "infra").path("/"); };
    CHECK(world.urls(at_all()) == Urls{"any http://192.0.2.1:80/", "wild http://*.example.com:81/",
                                       "one http://a.example.com:82/"});
    CHECK(world.urls(at_all().hostname("a.example.com")) == Urls{"any http://a.example.com:80/",
                                                                 "wild http://a.example.com:81/",
                                                                 "one http://a.example.com:82/"});
    CHECK(world.urls(at_all().hostname("x.y.example.com").hostname("b.example.net")) ==
          Urls{"any http://x.y.example.com:80/", "any http://b.example.net:80/",
               "wild http://x.y.example.com:81/"});
    // Both hostnames have the same name in common with the last listener.
    CHECK(world.urls(at_all().hostname("*.example.com").hostname("a.example.com")) ==
          Urls{"any http://*.example.com:80/", "any http://a.example.com:80/",
               "wild http://*.example.com:81/", "wild http://a.example.com:81/",
               "one http://a.example.com:82/"});
}

TEST_CASE("Role httproute: a route of all hosts at a gateway without an address has no target") {
    GatewayWorld world;
    world.put_gateway(sim::gateway("infra", "edge").listener("http", "HTTP", 80));
    CHECK(world.urls(web().parent("edge", "", "infra").path("/")).empty());
    CHECK(world.urls(web().parent("edge", "", "infra").path("/").hostname("a")) ==
          Urls{"http http://a:80/"});
}

TEST_CASE("Role httproute: sectionName and port of a parent select listeners") {
    Routed world;
    const auto at = [](const char* listener) {
        return web().parent("edge", listener, "infra").hostname("a").path("/");
    };
    CHECK(world.urls(at("http")) == Urls{"http http://a:80/"});
    CHECK(world.urls(at("none")).empty());
    const auto with_port = [&](std::string_view listener, int port) {
        boost::json::object route = at(listener.data());
        const auto set = [&](boost::json::value& reference) {
            reference.as_object()["port"] = port;
        };
        set(route["spec"].at("parentRefs").as_array().at(0));
        set(route["status"].at("parents").as_array().at(0).at("parentRef"));
        return route;
    };
    CHECK(world.urls(with_port("", 443)) == Urls{"https https://a:443/"});
    CHECK(world.urls(with_port("http", 443)).empty());
}

TEST_CASE("Role httproute: a listener has a route once, whichever parents select it") {
    Routed world;
    world.put_gateway(two_listeners("shop", "inner"));
    CHECK(world.urls(web()
                         .parent("inner", "http")
                         .parent("edge", "https", "infra")
                         .parent("edge", "", "infra")
                         .hostname("a")
                         .path("/")) ==
          Urls{"http http://a:80/", "https https://a:443/", "http http://a:80/"});
    // Without a namespace the gateway is in that of the route.
    CHECK(world.asked() ==
          std::set<World::Key>{{Kind::gateway, "infra", "edge"}, {Kind::gateway, "shop", "inner"}});
}

TEST_CASE("Role httproute: only parents that have accepted the route count") {
    Routed world;
    const auto route = [] { return web().parent("edge", "http", "infra").hostname("a").path("/"); };
    CHECK(world.urls(route()) == Urls{"http http://a:80/"});
    CHECK(world.urls(route().accepted(false)).empty());
    CHECK(world.urls(route().accepted(false).parent("edge", "https", "infra")) ==
          Urls{"https https://a:443/"});
    boost::json::object without_status = route();
    without_status.erase("status");
    CHECK(world.urls(without_status).empty());
    // The status of a parent removed from the spec may still exist.
    CHECK(world.urls(with_spec(route(), "parentRefs", boost::json::array())).empty());
    // An accepted parent of another section says nothing about this one.
    boost::json::object moved = route();
    moved["spec"].at("parentRefs").as_array().at(0).as_object()["sectionName"] = "https";
    CHECK(world.urls(moved).empty());
}

TEST_CASE("Role httproute: parents of other kinds have no listeners") {
    Routed world;
    for (const char* member : {"kind", "group"}) {
        boost::json::object route = web().parent("edge", "", "infra").hostname("a").path("/");
        for (boost::json::value* reference :
             {&route["spec"].at("parentRefs").as_array().at(0),
              &route["status"].at("parents").as_array().at(0).at("parentRef")}) {
            reference->as_object()[member] = "Service";
        }
        CHECK(world.urls(route).empty());
        CHECK(world.asked().empty());
    }
}

TEST_CASE("Role httproute: group and kind of a parent default to those of a gateway") {
    Routed world;
    boost::json::object route = web().parent("edge", "http", "infra").hostname("a").path("/");
    boost::json::object& reference = route["spec"].at("parentRefs").as_array().at(0).as_object();
    reference.erase("group");
    reference.erase("kind");
    CHECK(world.urls(route) == Urls{"http http://a:80/"});
}

TEST_CASE("Role httproute: a listener states the namespaces and kinds of its routes") {
    GatewayWorld world;
    const auto urls_with = [&](const char* from, const char* kind = nullptr,
                               const char* protocol = "HTTP") {
        auto gateway = sim::gateway("infra", "edge").listener("l", protocol, 80).routes_from(from);
        if (kind) gateway.route_kind(kind);
        world.put_gateway(gateway);
        return world.urls(web().parent("edge", "", "infra").hostname("a").path("/")).size();
    };
    CHECK(urls_with("All") == 1);
    CHECK(urls_with("Selector") == 1);  // that it was accepted decides
    CHECK(urls_with("Same") == 0);
    CHECK(urls_with("None") == 0);
    CHECK(urls_with("All", "HTTPRoute") == 1);
    CHECK(urls_with("All", "GRPCRoute") == 0);
    CHECK(urls_with("All", nullptr, "TLS") == 0);
    CHECK(urls_with("All", nullptr, "TCP") == 0);
    CHECK(urls_with("All", "HTTPRoute", "TLS") == 1);
    CHECK(urls_with("All", nullptr, "example.com/PROXY") == 1);
    world.put_gateway(sim::gateway("shop", "edge").listener("l", "HTTP", 80).routes_from("Same"));
    CHECK(world.urls(web().parent("edge").hostname("a").path("/")) == Urls{"l http://a:80/"});
}

TEST_CASE("Role httproute: a path has a type, and the default is / and all below") {
    Routed world;
    const auto paths = [&](const boost::json::object& route) {
        world.put(Kind::httproute, route);
        Urls all;
        for (const LabelMap& target : world.targets(Role::httproute, "shop", "web"))
            all.push_back(value(target, "~httproute_path_type") + " " +
                          value(target, "~httproute_path"));
        return all;
    };
    const auto at_http = [] { return web().parent("edge", "http", "infra").hostname("a"); };
    CHECK(paths(at_http()
                    .path("/a")
                    .path("/a", "Exact")
                    .path("/a|/b", "RegularExpression")
                    .path("/a")) == Urls{"PathPrefix /a", "Exact /a", "RegularExpression /a|/b"});
    CHECK(paths(at_http()) == Urls{"PathPrefix /"});
    for (const char* rules : {"[{}]", R"([{"matches":[]}])", R"([{"matches":[{}]}])",
                              R"([{"matches":[{"method":"GET"},{"path":{"value":""}}]}])"}) {
        CAPTURE(rules);
        CHECK(paths(with_spec(at_http(), "rules", boost::json::parse(rules))) ==
              Urls{"PathPrefix /"});
    }
}

TEST_CASE("Role httproute: gateways that come, change and go decide on the targets") {
    GatewayWorld world;
    const auto route = web().parent("edge", "http", "infra").hostname("a").path("/");
    CHECK(world.urls(route).empty());
    CHECK(world.asked(Kind::gateway, "infra", "edge"));
    world.put_gateway(two_listeners());
    CHECK(world.urls(route) == Urls{"http http://a:80/"});
    world.put_gateway(sim::gateway("infra", "edge").listener("http", "HTTP", 8080));
    CHECK(world.urls(route) == Urls{"http http://a:8080/"});
    world.remove(Kind::gateway, "infra", "edge");
    CHECK(world.urls(route).empty());
}

TEST_CASE("Role httproute: what reaches no label is no change of a route, the rest is one") {
    const auto object = [](World& world, const boost::json::object& route) -> const Object& {
        world.add(Kind::httproute, boost::json::serialize(route));
        return world.object(Kind::httproute, "shop", "web");
    };
    const auto route = [] { return web().parent("edge", "", "infra").hostname("a").path("/"); };
    World base, same;
    const Object& known = object(base, route());
    boost::json::object other = route();
    boost::json::array& parents = other["status"].as_object()["parents"].as_array();
    parents.at(0).as_object()["controllerName"] = "other";
    other["spec"].at("rules").as_array().at(0).as_object()["backendRefs"] = boost::json::array();
    CHECK(known.same_content(object(same, other)));
    for (const boost::json::object& changed :
         {boost::json::object(route().hostname("b")), boost::json::object(route().path("/x")),
          boost::json::object(route().accepted(false)),
          boost::json::object(route().label("a", "b")),
          boost::json::object(route().parent("edge2"))}) {
        World world;
        CHECK_FALSE(known.same_content(object(world, changed)));
    }
}

TEST_CASE("Role httproute: targets of one route are limited") {
    Routed world;
    world.set_max_targets(3);
    const auto route = web().parent("edge", "", "infra").hostname("a").path("/");
    CHECK(world.urls(route).size() == 2);
    world.set_max_targets(1);
    CHECK(world.urls(route).empty());
}

TEST_CASE("Role httproute: a listener without a valid port has no routes") {
    GatewayWorld world;
    world.put_gateway(with_ports({-1, 0, 1, 65535, 65536}));
    CHECK(world.urls(web().parent("edge", "", "infra").hostname("a").path("/")) ==
          Urls{"2 http://a:1/", "3 http://a:65535/"});
}

TEST_CASE("Role httproute: the sizes that the schema allows are within the limits of the work") {
    GatewayWorld world;
    auto route = web().path("/");
    for (int i = 0; i < 32; ++i) {
        const std::string name = "edge-" + std::to_string(i);
        world.put_gateway(many_listeners(name, 64));
        route.parent(name, "", "infra");
    }
    for (int i = 0; i < 16; ++i) route.hostname(numbered("h", i));
    CHECK(world.urls(route).size() == std::size_t{32} * 16);
    CHECK_FALSE(world.overfull());
}

TEST_CASE("Role httproute: over a thousand listeners, hostnames or parents without a match are too "
          "many") {
    GatewayWorld world;
    // Only the last ones match: comparing all would be 1.2 million comparisons.
    world.put_gateway(many_listeners("edge", 1100));
    auto route = web().parent("edge", "", "infra").path("/");
    for (int i = 0; i < 1100; ++i) route.hostname(numbered("other", i));
    route.hostname(numbered("h", 1099));
    CHECK(world.urls(route).empty());
    CHECK(world.overfull());

    auto sections = web().hostname(numbered("h", 1099)).path("/");
    for (int i = 0; i < 1000; ++i) sections.parent("edge", numbered("x", i), "infra");
    sections.parent("edge", "1099", "infra");
    CHECK(world.urls(sections).empty());
    CHECK(world.overfull());

    auto parents = web().hostname(numbered("h", 1099)).path("/");
    for (int i = 0; i < 1024; ++i) parents.parent(numbered("missing", i), "", "infra");
    parents.parent("edge", "1099", "infra");
    CHECK(world.urls(parents).empty());
    CHECK(world.overfull());
    CHECK(world.asked().empty());
}

TEST_CASE("Role httproute: a hostname longer than a name of DNS matches nothing") {
    Routed world;
    const auto urls_of = [&](std::size_t size) {
        const std::string hostname(size, 'a');
        return world.urls(web().parent("edge", "http", "infra").hostname(hostname).path("/"));
    };
    CHECK(urls_of(253).size() == 1);
    CHECK(urls_of(254).empty());
    CHECK_FALSE(world.overfull());
}

TEST_CASE("Role httproute: wrong types make the object unusable, and say why") {
    for (const char* part :
         {R"("spec":{"parentRefs":{}})", R"("spec":{"parentRefs":[{"port":"80"}]})",
          R"("spec":{"hostnames":"a"})", R"("spec":{"hostnames":[1]})",
          R"("spec":{"rules":[{"matches":[{"path":"/"}]}]})",
          R"("status":{"parents":[{"conditions":{}}]})"}) {
        CAPTURE(part);
        const Decoded decoded =
            decode_watch(Kind::httproute, R"({"type":"ADDED","object":{"metadata":{"name":"r",)"
                                          R"("namespace":"n"},)" +
                                              std::string(part) + "}}");
        REQUIRE(decoded.calls.size() == 1);
        CHECK(decoded.calls[0].starts_with("bad n/r"));
    }
}
