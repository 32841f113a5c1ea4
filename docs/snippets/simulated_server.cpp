// Snippets of docs/guide/testing.md.

//[memory
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/sim/fixture.hpp"

//]
#include "k8s_sd/sim/shop.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>
#include <memory>

namespace snippets::simulated_server {

using namespace std::chrono_literals;

[[maybe_unused]] static void in_memory() {
    //[memory
    namespace sim = k8s_sd::sim;

    sim::Fixture cluster;
    cluster.server.apply(sim::pod("shop", "web-0").ip("10.0.0.1").container("web", "web:1", 8080));

    // Your program. This one only counts.
    const k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod,
                                         .api_server = cluster.api_server()};
    k8s_sd::Discoverer discoverer(cluster.context.get_executor(), config,
                                  [](const k8s_sd::TargetGroupDiff& diff) {
                                      std::cout << diff.updated.size() << " came or changed, "
                                                << diff.removed.size() << " are gone\n";
                                  });
    discoverer.async_run(boost::asio::detached);
    cluster.settle();  // connected, listed, delivered

    cluster.server.apply(sim::pod("shop", "web-1").ip("10.0.0.2").container("web", "web:1", 8080));
    cluster.settle();

    cluster.server.accept_connections(false);  // the server is down for an hour
    cluster.server.disconnect_all();
    cluster.server.remove("pods", "shop", "web-0");
    cluster.advance(1h);
    std::cout << "it is back\n";
    cluster.server.accept_connections(true);
    cluster.advance(1min);  // the next attempt
    //]
}

[[maybe_unused]] static void without_fixture() {
    namespace sim = k8s_sd::sim;
    //[parts
    boost::asio::io_context io;
    const auto clock = std::make_shared<sim::ManualClock>();
    sim::ApiServer server(io.get_executor(), {.clock = clock});
    k8s_sd::Environment environment;
    environment.clock = clock;
    environment.connector = server.connector();
    k8s_sd::install(io, environment);  // before your program starts on io

    clock->advance(io, 1h);
    //]
}

[[maybe_unused]] static void custom_resources(k8s_sd::sim::ApiServer& server) {
    //[custom
    server.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    server.apply(R"({"apiVersion": "example.com/v1", "kind": "Widget",
                     "metadata": {"name": "a", "namespace": "shop"}, "spec": {"size": 3}})");
    //]
}

[[maybe_unused]] static void build(k8s_sd::sim::ApiServer& server) {
    namespace sim = k8s_sd::sim;
    //[builders
    boost::json::object pod = sim::pod("shop", "web-0").ip("10.0.0.1").node("n1");
    pod["spec"].as_object()["hostNetwork"] = true;
    server.apply(pod);
    server.apply(sim::endpoint_slice("shop", "web-x", "web")
                     .port("http", 8080)
                     .endpoint("10.0.0.1")
                     .pod("web-0")
                     .zone("a")
                     .endpoint("10.0.0.2")
                     .ready(false));
    //]
}

[[maybe_unused]] static void over_tcp(boost::asio::io_context& io) {
    //[tcp
    k8s_sd::sim::ApiServer server(io.get_executor());
    server.listen();  // a free port of 127.0.0.1
    std::cout << "kubectl --server=" << server.url() << " get pods -A -w\n";
    //]

    //[shop
    k8s_sd::sim::Shop shop(server, {.seed = 42});
    for (int i = 0; i < 10; ++i) std::cout << shop.step() << '\n';
    //]
}

}  // namespace snippets::simulated_server
