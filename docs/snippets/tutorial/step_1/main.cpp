#include "cluster.hpp"
#include "k8s_sd/discoverer.hpp"

#include <chrono>
#include <iostream>

int main() {
    boost::asio::io_context io;
    Cluster cluster(io);
    cluster.start_pod("web-0", "true");
    cluster.start_pod("db-0", "false");

    k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod};
    config.api_server.url = cluster.url();
    k8s_sd::Discoverer discoverer(io.get_executor(), config,
                                  [](const k8s_sd::TargetGroupDiff& diff) {
                                      for (const k8s_sd::GroupChange& change : diff.updated)
                                          std::cout << "+ " << change.group->source() << std::endl;
                                      for (const k8s_sd::TargetGroupPtr& group : diff.removed)
                                          std::cout << "- " << group->source() << std::endl;
                                  });
    discoverer.async_run(boost::asio::detached);

    boost::asio::steady_timer timer(io, std::chrono::seconds(1));
    timer.async_wait([&](auto) { cluster.stop_pod("db-0"); });
    io.run_for(std::chrono::seconds(2));
}
