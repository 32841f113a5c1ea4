#include "support/gateway_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

using Texts = std::vector<std::string>;

/// Whether the cached object differs from that of two_listeners().
bool is_change(const boost::json::object& gateway) {
    GatewayWorld before, after;
    before.put_gateway(two_listeners());
    after.put_gateway(gateway);
    const auto& object = before.object(Kind::gateway, "infra", "edge");
    return !object.same_content(after.object(Kind::gateway, "infra", "edge"));
}

}  // namespace

TEST_CASE("Role gateway: each listener is a target, the group has what they share") {
    GatewayWorld world;
    const auto group = world
                           .put_gateway(sim::gateway("infra", "edge")
                                            .class_name("envoy")
                                            .label("team", "net")
                                            .annotation("note", "x")
                                            .address("192.0.2.1")
                                            .address("lb.example.net", "Hostname")
                                            .listener("web", "HTTPS", 8443, "a.example.com"))
                           .group(Role::gateway, "infra", "edge");
    REQUIRE(group != nullptr);
    CHECK(group->source() == "gateway/infra/edge");
    CHECK(group->labels().to_map() == labels({{"~namespace", "infra"},
                                              {"~gateway_name", "edge"},
                                              {"~gateway_class_name", "envoy"},
                                              {"~gateway_addresses", "192.0.2.1,lb.example.net"}}) +
                                          family("gateway_label", {{"team", "net"}}) +
                                          family("gateway_annotation", {{"note", "x"}}));
    REQUIRE(group->size() == 1);
    CHECK((*group)[0].to_map() == labels({{"__address__", "a.example.com:8443"},
                                          {"~gateway_listener_name", "web"},
                                          {"~gateway_listener_hostname", "a.example.com"},
                                          {"~gateway_listener_port", "8443"},
                                          {"~gateway_listener_protocol", "HTTPS"}}));
}

TEST_CASE("Role gateway: a listener without a hostname has the first address of the gateway") {
    GatewayWorld world;
    world.put_gateway(two_listeners().listener("tcp", "TCP", 5432));
    CHECK(world.listeners() ==
          Texts{"http 192.0.2.1:80", "https 192.0.2.1:443", "tcp 192.0.2.1:5432"});
    world.put_gateway(sim::gateway("infra", "edge")
                          .listener("http", "HTTP", 80)
                          .address("pool-1", "example.com/pool")
                          .address("2001:db8::1"));
    CHECK(world.listeners() == Texts{"http [2001:db8::1]:80"});
    world.put_gateway(
        sim::gateway("infra", "edge").listener("a", "HTTP", 80, "*.example.com").address("::1"));
    CHECK(world.listeners() == Texts{"a *.example.com:80"});
}

TEST_CASE("Role gateway: without hostname and address there is nothing to connect to") {
    GatewayWorld world;
    world.put_gateway(sim::gateway("infra", "edge")
                          .listener("http", "HTTP", 80)
                          .listener("named", "HTTP", 81, "a.example.com"));
    CHECK(world.listeners() == Texts{"named a.example.com:81"});
    world.put_gateway(sim::gateway("infra", "edge").listener("http", "HTTP", 80));
    CHECK(world.group(Role::gateway, "infra", "edge") == nullptr);
    world.put_gateway(sim::gateway("infra", "edge").address("192.0.2.1"));
    CHECK(world.group(Role::gateway, "infra", "edge") == nullptr);
}

TEST_CASE("Role gateway: a listener without a valid port is no target") {
    GatewayWorld world;
    world.put_gateway(with_ports({-1, 0, 1, 65535, 65536}));
    CHECK(world.listeners() == Texts{"2 192.0.2.1:1", "3 192.0.2.1:65535"});
    world.put_gateway(with_ports({0, 70000}));
    CHECK(world.group(Role::gateway, "infra", "edge") == nullptr);
}

TEST_CASE("Role gateway: attach_metadata.namespace adds the namespace's metadata, the others "
          "nothing") {
    GatewayWorld world(
        prom, {.node = true, .namespace_ = true, .deployment = true, .job = true, .cronjob = true});
    world.put_gateway(two_listeners());
    const LabelMap plain = world.targets(Role::gateway, "infra", "edge").at(0);
    CHECK(world.asked() == std::set<World::Key>{{Kind::namespace_, "", "infra"}});
    world.add(Kind::namespace_, R"({"metadata":{"name":"infra","labels":{"x":"y"}}})");
    CHECK(world.targets(Role::gateway, "infra", "edge").at(0) ==
          plain + family("namespace_label", {{"x", "y"}}));
}

TEST_CASE("Role gateway: a change of what targets or routes depend on is a change, nothing else") {
    CHECK_FALSE(is_change(two_listeners()));
    boost::json::object other = two_listeners();
    other["status"].as_object()["conditions"] =
        boost::json::array{boost::json::object{{"type", "Programmed"}, {"status", "True"}}};
    other["spec"].as_object()["infrastructure"] = boost::json::object();
    CHECK_FALSE(is_change(other));
    CHECK(is_change(two_listeners().class_name("other")));
    CHECK(is_change(two_listeners().label("a", "b")));
    CHECK(is_change(two_listeners().address("192.0.2.2")));
    CHECK(is_change(two_listeners().routes_from("Same")));
    CHECK(is_change(two_listeners().route_kind("HTTPRoute")));
    CHECK(is_change(two_listeners().listener("more", "HTTP", 81)));
}

TEST_CASE("Role gateway: wrong types make the object unusable, and say why") {
    struct Row {
        const char *part, *problem;
    };
    for (const Row& row : std::initializer_list<Row>{
             {R"("spec":7)", "spec"},
             {R"("spec":{"listeners":{}})", "listeners"},
             {R"("spec":{"listeners":[{"port":"http"}]})", "port"},
             {R"("spec":{"listeners":[{"allowedRoutes":[]}]})", "allowedRoutes"},
             {R"("status":{"addresses":[{"value":1}]})", "value"}}) {
        CAPTURE(row.part);
        const Decoded decoded =
            decode_watch(Kind::gateway, R"({"type":"ADDED","object":{"metadata":{"name":"g",)"
                                        R"("namespace":"n"},)" +
                                            std::string(row.part) + "}}");
        REQUIRE(decoded.calls.size() == 1);
        CHECK(decoded.calls[0].starts_with("bad n/g"));
        CHECK(decoded.calls[0].find(row.problem) != std::string::npos);
    }
}

TEST_CASE("Role gateway: null and unknown fields are none") {
    GatewayWorld world;
    world.add(Kind::gateway,
              R"({"metadata":{"name":"edge","namespace":"infra"},"spec":{"listeners":[null,
              {"name":"a","hostname":null,"port":80,"protocol":"HTTP","tls":null,
               "allowedRoutes":null,"x":[{}]}]},"status":{"addresses":[{"value":"192.0.2.1"}]}})");
    const auto targets = world.targets(Role::gateway, "infra", "edge");
    REQUIRE(targets.size() == 1);
    CHECK(value(targets.back(), "__address__") == "192.0.2.1:80");
}
