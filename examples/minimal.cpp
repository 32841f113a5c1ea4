// The smallest host: prints the pods of a cluster and every change.  Usage: minimal URL

#include "k8s_sd/discoverer.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: minimal URL\n";
        return 2;
    }
    boost::asio::io_context io;
    const k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod, .api_server = {.url = argv[1]}};
    k8s_sd::Discoverer discoverer(io.get_executor(), config, [](const auto& diff) {
        for (const auto& change : diff.updated) {
            for (std::size_t i = 0; i < change.group->size(); ++i) {
                std::cout << change.group->merged(i).at("__address__") << std::endl;
            }
        }
        for (const auto& group : diff.removed) {
            std::cout << group->source() << " removed" << std::endl;
        }
    });
    discoverer.async_run(boost::asio::detached);
    io.run();
}
