// A proxy: the endpoints of a service with their state in the API: ready, serving, terminating, and
// the zones they are for. It needs permission for EndpointSlices, and nothing else.
//
//     balancer [OPTION]... [URL]      without a server: a simulated cluster

#include "cli/cluster.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/small_example.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>

namespace {

namespace asio = boost::asio;
namespace api = k8s_sd::api;

void print(const char* what, const api::EndpointSlice& slice) {
    std::cout << what << ' ' << slice.metadata.namespace_ << '/' << slice.service_name() << ':';
    for (const api::Endpoint& endpoint : slice.endpoints) {
        std::cout << ' ' << endpoint.addresses.front();
        if (endpoint.conditions.is_terminating()) std::cout << " terminating";
        if (!endpoint.conditions.is_ready())
            std::cout << (endpoint.conditions.is_serving() ? " serving" : " not-serving");
        if (endpoint.zone) std::cout << " in " << *endpoint.zone;
        for (const api::ForZone& zone : endpoint.hints.for_zones) std::cout << " for " << zone.name;
    }
    std::cout << std::endl;
}

void run(const support::Arguments& arguments) {
    asio::io_context io(1);
    cli::Cluster cluster(io.get_executor(), arguments.server);
    cluster.start_changes(std::chrono::milliseconds(100));
    unsigned left = arguments.diffs;
    asio::signal_set signals(io, SIGINT, SIGTERM);
    k8s_sd::Watcher<api::EndpointSlice> slices(io.get_executor(), cluster.watcher_config(),
                                               [&](const auto& diff) {
                                                   for (const auto& slice : diff.removed)
                                                       print("-", *slice);
                                                   for (const auto& slice : diff.added)
                                                       print("+", *slice);
                                                   for (const auto& [before, after] : diff.changed)
                                                       print("~", *after);
                                                   if (left > 0 && --left == 0) signals.cancel();
                                               });
    slices.async_run(asio::detached);
    signals.async_wait([&](boost::system::error_code, int) {
        slices.cancel();
        cluster.stop();
    });
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    return support::run_example("balancer", "Prints the endpoints of services.", argc, argv, run);
}
