// Snippets of docs/simulated-server.md.

//[memory
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/sim/manual_clock.hpp"

//]
#include "k8s_sd/sim/shop.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>
#include <memory>

namespace snippets {

using namespace std::chrono_literals;

[[maybe_unused]] static void in_memory() {
    //[memory
    namespace sim = k8s_sd::sim;

    boost::asio::io_context io;
    const auto clock = std::make_shared<sim::ManualClock>();
    sim::ApiServer server(io.get_executor(), {.clock = clock});
    k8s_sd::Environment environment;
    environment.clock = clock;
    environment.connector = server.connector();
    k8s_sd::install(io, environment);  // before your program starts on io

    server.apply(sim::pod("shop", "web-0").ip("10.0.0.1").ready().container("web", "web:1", 8080));

    // Your program. This one only counts.
    const k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod,
                                         .api_server = {.url = server.url()}};
    k8s_sd::Discoverer discoverer(io.get_executor(), config,
                                  [](const k8s_sd::TargetGroupDiff& diff) {
                                      std::cout << diff.updated.size() << " came or changed, "
                                                << diff.removed.size() << " are gone\n";
                                  });
    discoverer.async_run(boost::asio::detached);
    clock->advance(io, 0s);  // connected, listed, delivered

    server.apply(sim::pod("shop", "web-1").ip("10.0.0.2").ready().container("web", "web:1", 8080));
    clock->advance(io, 0s);

    server.accept_connections(false);  // the server is away for an hour
    server.disconnect_all();
    server.remove("pods", "shop", "web-0");
    clock->advance(io, 1h);
    std::cout << "it is back\n";
    server.accept_connections(true);
    clock->advance(io, 1min);  // the next attempt
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

}  // namespace snippets
