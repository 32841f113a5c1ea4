// Snippets of docs/simulated-server.md.

//[memory
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/api_server.hpp"

//]
#include "k8s_sd/sim/shop.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>

namespace snippets {

[[maybe_unused]] static void in_memory() {
    //[memory
    boost::asio::io_context io;
    k8s_sd::sim::ApiServer server(io.get_executor());
    k8s_sd::Environment environment;
    environment.connector = server.connector();
    k8s_sd::install(io, environment);  // before the first Discoverer on io

    server.apply(R"({"kind": "Pod", "apiVersion": "v1",
                     "metadata": {"name": "web-0", "namespace": "shop", "labels": {"app": "web"}},
                     "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 8080}]}]},
                     "status": {"phase": "Running", "podIP": "10.0.0.1"}})");

    const k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod,
                                         .api_server = {.url = server.url()}};
    k8s_sd::Discoverer discoverer(io.get_executor(), config,
                                  [](const k8s_sd::TargetGroupDiff& diff) {
                                      std::cout << diff.updated.size() << " came or changed, "
                                                << diff.removed.size() << " are gone\n";
                                  });
    discoverer.async_run(boost::asio::detached);
    io.poll();  // connected, listed, delivered

    server.remove("pods", "shop", "web-0");
    io.restart();
    io.poll();  // the removal is delivered
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
