// The smallest host: prints the pods of a cluster and every change.  Usage: minimal [URL]

#include "k8s_sd/config.hpp"
#include "k8s_sd/discoverer.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <stdexcept>

int main(int argc, char** argv) try {
    k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod};
    if (argc > 1 && *argv[1] == '-') throw std::invalid_argument("usage: minimal [URL]");
    if (argc > 1) config.api_server.url = argv[1];
    find_api_server(config);  // without a URL: $KUBECONFIG, the pod's own cluster, ~/.kube/config
    boost::asio::io_context io;
    k8s_sd::Discoverer discoverer(io.get_executor(), config, [](const auto& diff) {
        for (const auto& change : diff.updated) {
            for (std::size_t i = 0; i < change.group->size(); ++i)
                std::cout << change.group->merged(i).at("__address__") << std::endl;
        }
        for (const auto& group : diff.removed)
            std::cout << group->source() << " removed" << std::endl;
    });
    discoverer.async_run(boost::asio::detached);
    io.run();
} catch (const std::exception& e) {
    std::cerr << "minimal: " << e.what() << '\n';
    return 2;
}
