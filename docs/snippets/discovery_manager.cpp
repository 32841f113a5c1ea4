// Snippets of docs/guide/discovery-manager.md.

//[manager
#include "k8s_sd/discovery_manager.hpp"

#include "k8s_sd/target_groups.hpp"

//]
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <string>

namespace snippets::discovery_manager {

[[maybe_unused]] static void run_jobs(boost::asio::io_context& io) {
    //[manager
    // The groups of each job. Two providers of a job may have groups of the same source.
    std::map<std::string, std::map<k8s_sd::ProviderId, k8s_sd::TargetGroups>> state;

    k8s_sd::DiscoveryManager manager(io.get_executor(), [&](const k8s_sd::JobDiff& diff) {
        auto& job = state[diff.job];
        for (const k8s_sd::ProviderDiff& provider : diff.providers) {
            job[provider.provider].apply(provider.diff);
            if (provider.last) job.erase(provider.provider);
        }
        if (diff.last) state.erase(diff.job);
    });

    k8s_sd::DiscoveryConfig pods;
    pods.api_server.url = "https://cluster.example.com";
    k8s_sd::DiscoveryConfig nodes = pods;
    nodes.role = k8s_sd::Role::node;
    const auto failures =
        manager.apply_config({{"web", {pods}}, {"all", {pods, nodes}, std::chrono::seconds(5)}});
    for (const k8s_sd::ConfigFailure& failure : failures) {
        std::cerr << failure.job << ": " << failure.message << '\n';
    }

    manager.async_run(boost::asio::detached);
    io.run();
    //]
}

}  // namespace snippets::discovery_manager
