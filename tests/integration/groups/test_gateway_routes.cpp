#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

/// A cluster with Gateway API in some versions, and a host of one role.
struct GatewayCluster : Simulation {
    explicit GatewayCluster(const std::vector<std::string>& versions = {"v1"}) {
        sim::add_gateway_api(server, versions);
    }
    Host& run(Role role) {
        DiscoveryConfig config;
        config.role = role;
        config.api_server.url = server.url();
        host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        settle();
        return *host;
    }
    void apply(const boost::json::object& object) {
        server.apply(object);
        settle();
    }
    /// Sources and addresses: "httproute/shop/web a:80 a:443".
    Texts targets() const {
        Texts all;
        for (const auto& [source, group] : host->groups) {
            all.push_back(source);
            for (std::size_t i = 0; i < group->size(); ++i)
                all.back() += " " + std::string((*group)[i].get("__address__").value_or(""));
        }
        return all;
    }
    std::size_t count(const std::string& part) {
        const auto requests = server.requests();
        return static_cast<std::size_t>(
            std::count_if(requests.begin(), requests.end(), [&](const auto& record) {
                return contains(record.request.target, part);
            }));
    }

    std::unique_ptr<Host> host;
};

sim::GatewayBuilder edge(unsigned short port = 80) {
    return sim::gateway("infra", "edge").listener("http", "HTTP", port).address("192.0.2.1");
}
sim::RouteBuilder route(std::string_view name = "web", std::string_view gateway = "edge") {
    return sim::http_route("shop", name).parent(gateway, "", "infra").hostname("a").path("/");
}

}  // namespace

TEST_CASE("Gateway API: the targets of a route follow its gateway") {
    GatewayCluster c;
    c.server.apply(route());
    c.run(Role::httproute);
    CHECK(c.targets().empty());
    CHECK(c.host->discoverer->status().synced);
    c.apply(edge());
    CHECK(c.targets() == Texts{"httproute/shop/web a:80"});
    c.apply(edge(8080));
    CHECK(c.targets() == Texts{"httproute/shop/web a:8080"});
    c.apply(edge(8080).listener("https", "HTTPS", 443));
    CHECK(c.targets() == Texts{"httproute/shop/web a:8080 a:443"});
    c.apply(route().accepted(false));
    CHECK(c.targets().empty());
    c.apply(route());
    c.server.remove("gateways", "infra", "edge");
    c.settle();
    CHECK(c.targets().empty());
    CHECK(c.host->complaints.empty());
}

TEST_CASE(
    "Gateway API: a change of a gateway makes the groups of its own routes again, no others") {
    GatewayCluster c;
    c.server.apply(edge());
    c.server.apply(sim::gateway("infra", "inner").listener("http", "HTTP", 80).address("::1"));
    for (const char* name : {"a", "b", "c"}) c.server.apply(route(name));
    c.server.apply(route("d", "inner"));
    c.run(Role::httproute);
    c.host->take_diffs();
    const std::uint64_t before = c.metrics->groups_generated;
    c.apply(edge(81));
    CHECK(c.metrics->groups_generated == before + 3);
    CHECK(c.host->take_diffs() == "[~httproute/shop/a ~httproute/shop/b ~httproute/shop/c]");
    // What no label needs changes nothing.
    boost::json::object gateway = edge(81);
    gateway["status"].as_object()["conditions"] = boost::json::array();
    c.apply(gateway);
    CHECK(c.metrics->groups_generated == before + 3);
    // A label of the gateway is one of its routes' targets.
    c.apply(edge(81).label("team", "net"));
    CHECK(c.host->take_diffs() == "[~httproute/shop/a ~httproute/shop/b ~httproute/shop/c]");
    CHECK(c.host->complaints.empty());
}

TEST_CASE("Gateway API: the targets of a route depend on its gateways, not on its namespace") {
    GatewayCluster c;
    c.server.apply(edge());
    c.server.apply(route());
    DiscoveryConfig config;
    config.role = Role::httproute;
    config.api_server.url = c.server.url();
    config.attach_metadata.namespace_ = true;
    c.host = std::make_unique<Host>(c.context.get_executor(), config);
    c.host->run();
    c.settle();
    const std::uint64_t before = c.metrics->target_parts_generated;
    c.apply(sim::namespace_("shop").label("team", "web"));
    CHECK(c.host->label("httproute/shop/web", "__meta_kubernetes_namespace_label_team") == "web");
    CHECK(c.metrics->target_parts_generated == before);
    c.apply(edge(81));
    CHECK(c.targets() == Texts{"httproute/shop/web a:81"});
    CHECK(c.metrics->target_parts_generated == before + 1);
}

TEST_CASE("Gateway API: each role has its targets, read in JSON") {
    GatewayCluster c;
    c.server.apply(edge().listener("tls", "TLS", 443));
    c.server.apply(route());
    c.server.apply(
        sim::grpc_route("shop", "api").parent("edge", "", "infra").hostname("b").method("s"));
    c.server.apply(sim::tls_route("shop", "db").parent("edge", "", "infra").hostname("c"));
    c.run(Role::gateway);
    CHECK(c.targets() == Texts{"gateway/infra/edge 192.0.2.1:80 192.0.2.1:443"});
    c.run(Role::httproute);
    CHECK(c.targets() == Texts{"httproute/shop/web a:80"});
    c.run(Role::grpcroute);
    CHECK(c.targets() == Texts{"grpcroute/shop/api b:80"});
    c.run(Role::tlsroute);
    CHECK(c.targets() == Texts{"tlsroute/shop/db c:443"});
    CHECK(c.take_log().empty());
    REQUIRE(c.count("/apis/gateway.networking.k8s.io/v1/") >= 4);
    for (const sim::RequestRecord& record : c.server.requests()) {
        const std::string accept(record.request.header("Accept").value_or(""));
        CHECK_FALSE(contains(accept, "protobuf"));
    }
}

TEST_CASE("Gateway API: what the server has in an older version only is found there") {
    const auto [role, versions, path] = GENERATE(table<Role, Texts, std::string>(
        {{Role::gateway, {"v1beta1"}, "v1beta1/gateways"},
         {Role::httproute, {"v1beta1"}, "v1beta1/httpr"},
         {Role::grpcroute, {"v1alpha2"}, "v1alpha2/grpc"},
         {Role::tlsroute, {"v1alpha2"}, "v1alpha2/tls"},
         {Role::tlsroute, {"v1alpha2", "v1alpha3"}, "v1alpha3/tls"}}));
    GatewayCluster c;
    c.server.apply(edge().listener("tls", "TLS", 443));
    c.server.apply(route());
    c.server.apply(
        sim::grpc_route("shop", "api").parent("edge", "", "infra").hostname("b").method("s"));
    c.server.apply(sim::tls_route("shop", "db").parent("edge", "", "infra").hostname("c"));
    c.server.set_served(to_string(main_kind(role)), versions);
    c.run(role);
    CHECK(c.targets().size() == 1);
    CHECK_FALSE(c.host->discoverer->status().error);
    CHECK(c.count("/apis/gateway.networking.k8s.io/" + path) >= 2);
    const Texts log = c.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], "the server is old: it has this API in " + versions.back() + " only"));
    // Once there is v1, it is watched there.
    c.server.set_served(to_string(main_kind(role)), {"v1"});
    c.advance(1min);
    c.server.clear_requests();
    c.advance(20min);
    CHECK(c.count("/v1alpha") == 0);
    CHECK(c.count("/v1beta") == 0);
    CHECK(c.targets().size() == 1);
}

TEST_CASE("Gateway API: without its definitions the status says what is missing, until they come") {
    const bool old = GENERATE(false, true);
    Simulation sim;
    DiscoveryConfig config;
    config.role = Role::httproute;
    config.api_server.url = sim.server.url();
    Host host(sim.context.get_executor(), config);
    host.run();
    sim.advance(1h);
    CHECK(host.groups.empty());
    const DiscovererStatus status = host.discoverer->status();
    CHECK_FALSE(status.synced);
    CHECK(status.error == errc::not_found);
    const Texts log = sim.take_log();
    CHECK(log.size() == 2);  // one for each kind
    for (const std::string& line : log) {
        CHECK(contains(line, " (API group gateway.networking.k8s.io) in version v1 or v1beta1: "
                             "install the definitions (CRDs) of Gateway API there"));
    }
    CHECK(sim.server.requests().size() <= 1000);
    sim::add_gateway_api(sim.server, {old ? "v1beta1" : "v1"});
    sim.server.apply(edge());
    sim.server.apply(route());
    sim.advance(1min);
    CHECK(host.groups.contains("httproute/shop/web"));
    CHECK_FALSE(host.discoverer->status().error);
    CHECK(host.discoverer->status().synced);
}

TEST_CASE("Gateway API: a gateway in a namespace that is not configured is unknown") {
    GatewayCluster c;
    c.server.apply(edge());
    c.server.apply(route());
    DiscoveryConfig config;
    config.role = Role::httproute;
    config.api_server.url = c.server.url();
    config.namespaces = {"shop"};
    Host shop(c.context.get_executor(), config);
    shop.run();
    config.namespaces.emplace_back("infra");
    Host both(c.context.get_executor(), config);
    both.run();
    c.settle();
    CHECK(shop.groups.empty());
    CHECK(both.groups.size() == 1);
}

TEST_CASE("Gateway API: selectors choose routes and gateways") {
    GatewayCluster c;
    c.server.apply(edge().label("public", "yes"));
    c.server.apply(sim::gateway("infra", "inner").listener("http", "HTTP", 80));
    c.server.apply(route("web").label("probe", "yes").parent("inner", "", "infra"));
    c.server.apply(route("other"));
    DiscoveryConfig config;
    config.role = Role::httproute;
    config.api_server.url = c.server.url();
    config.selectors = {{Role::httproute, "probe=yes", ""}, {Role::gateway, "public=yes", ""}};
    c.host = std::make_unique<Host>(c.context.get_executor(), config);
    c.host->run();
    c.settle();
    CHECK(c.targets() == Texts{"httproute/shop/web a:80"});
}
