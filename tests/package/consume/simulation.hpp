#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <k8s_sd/discoverer.hpp>
#include <k8s_sd/sim/api_server.hpp>
#include <string>

/// The address of the only pod of a simulated cluster, found by a Discoverer; empty: none.
inline std::string discovered_address() {
    boost::asio::io_context context;
    k8s_sd::sim::ApiServer server(context.get_executor());
    server.listen();
    server.apply(R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "web", "ports": [{"containerPort": 8080}]}]},
        "status": {"phase": "Running", "podIP": "10.0.0.1"}})");

    std::string address;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = server.url();
    k8s_sd::Discoverer discoverer(context.get_executor(), config,
                                  [&](const k8s_sd::TargetGroupDiff& diff) {
                                      for (const k8s_sd::GroupChange& change : diff.updated) {
                                          address = change.group->merged(0).at("__address__");
                                      }
                                      discoverer.cancel();
                                  });
    discoverer.async_run([&](k8s_sd::error_code) { context.stop(); });
    context.run_for(std::chrono::seconds(60));
    return address;
}
