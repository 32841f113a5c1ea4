#include "support/gateway_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

using Texts = std::vector<std::string>;

/// A world with listeners for each kind of routes.
struct Listening : GatewayWorld {
    Listening() {
        put_gateway(sim::gateway("infra", "edge")
                        .listener("http", "HTTP", 80)
                        .listener("tls", "TLS", 443, "*.example.com")
                        .address("192.0.2.1"));
    }
    Texts of_grpc(const boost::json::object& route) {
        put(Kind::grpcroute, route);
        Texts all;
        for (const LabelMap& target : targets(Role::grpcroute, "shop", "api")) {
            CHECK(value(target, "~gateway_listener_name") == "http");
            all.push_back(value(target, "~grpcroute_scheme") + " " + value(target, "__address__") +
                          " " + value(target, "~grpcroute_method_type") + " " +
                          value(target, "~grpcroute_service") + "/" +
                          value(target, "~grpcroute_method"));
        }
        return all;
    }
};

}  // namespace

TEST_CASE("Role grpcroute: each hostname and method at each listener is a target") {
    Listening world;
    const auto api = [] {
        return sim::grpc_route("shop", "api").parent("edge", "", "infra").hostname("a");
    };
    CHECK(world.of_grpc(api().method("shop.Cart", "Add").method("shop.Cart").method("shop.Cart")) ==
          Texts{"http a:80 Exact shop.Cart/Add", "http a:80 Exact shop.Cart/"});
    CHECK(world.of_grpc(api()).empty());  // unlike an HTTPRoute, it matches nothing
    boost::json::object route = api();
    route["spec"].as_object()["rules"] = boost::json::parse(R"([{},{"matches":[{}]}])");
    CHECK(world.of_grpc(route) == Texts{"http a:80 Exact /"});
}

TEST_CASE("Role grpcroute: the group has the labels of the route") {
    Listening world;
    world.put(Kind::grpcroute, sim::grpc_route("shop", "api")
                                   .label("app", "api")
                                   .parent("edge", "", "infra")
                                   .hostname("a")
                                   .method("s"));
    const auto group = world.group(Role::grpcroute, "shop", "api");
    REQUIRE(group != nullptr);
    CHECK(group->source() == "grpcroute/shop/api");
    CHECK(group->labels().to_map() == labels({{"~namespace", "shop"}, {"~grpcroute_name", "api"}}) +
                                          family("grpcroute_label", {{"app", "api"}}));
    CHECK((*group)[0].get("__meta_kubernetes_gateway_name") == "edge");
}

TEST_CASE("Role tlsroute: each hostname at each listener of protocol TLS is a target") {
    Listening world;
    world.put(Kind::tlsroute, sim::tls_route("shop", "db")
                                  .label("app", "db")
                                  .parent("edge", "", "infra")
                                  .hostname("db.example.com")
                                  .hostname("db.example.net"));
    const auto group = world.group(Role::tlsroute, "shop", "db");
    REQUIRE(group != nullptr);
    CHECK(group->source() == "tlsroute/shop/db");
    CHECK(group->labels().to_map() == labels({{"~namespace", "shop"}, {"~tlsroute_name", "db"}}) +
                                          family("tlsroute_label", {{"app", "db"}}));
    REQUIRE(group->size() == 1);
    CHECK((*group)[0].to_map() == labels({{"__address__", "db.example.com:443"},
                                          {"~tlsroute_hostname", "db.example.com"},
                                          {"~gateway_namespace", "infra"},
                                          {"~gateway_name", "edge"},
                                          {"~gateway_class_name", "example"},
                                          {"~gateway_addresses", "192.0.2.1"},
                                          {"~gateway_listener_name", "tls"},
                                          {"~gateway_listener_hostname", "*.example.com"},
                                          {"~gateway_listener_port", "443"},
                                          {"~gateway_listener_protocol", "TLS"}}));
}
