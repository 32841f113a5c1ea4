#include "hub_clusters.hpp"

#include "cli/signals.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "notes.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string>
#include <utility>

namespace discover {

namespace {

/// The hub itself needs no name.
k8s_sd::DiscoveryConfig without_server(k8s_sd::DiscoveryConfig config,
                                       const cli::ClusterOptions& clusters) {
    config.api_server = {};
    config.kubeconfig_file.clear();
    config.kubeconfig_context.clear();
    config.cluster = {};
    if (!clusters.label.empty()) config.cluster.label = clusters.label;
    return config;
}

}  // namespace

std::optional<std::vector<k8s_sd::DiscoveryConfig>> clusters_of_hub(const Options& options,
                                                                    cli::ExitStatus& status) {
    boost::asio::io_context io(1);
    k8s_sd::Environment environment;
    environment.logger = logger_of(options);
    k8s_sd::install(io, environment);
    std::optional<std::vector<k8s_sd::InventoryCluster>> found;
    k8s_sd::ClusterInventory inventory(io.get_executor(),
                                       cli::inventory_of(options.config, options.profiles),
                                       [&](const k8s_sd::InventoryDiff& diff) {
                                           found = diff.updated;
                                           io.stop();
                                       });
    cli::Signals signals(io.get_executor());
    signals.wait([&](int) {
        status = cli::exit_fine;
        io.stop();
    });
    boost::asio::steady_timer timeout(io);
    if (options.timeout) {
        timeout.expires_after(*options.timeout);
        timeout.async_wait([&](boost::system::error_code) {
            status = cli::exit_not_synced;
            const std::string why = inventory.status().profiles.message;
            note(options, k8s_sd::LogLevel::error, cli::Event::not_synced,
                 "the ClusterProfiles of the hub have not been listed in time" +
                     (why.empty() ? "" : ": " + cli::printable(why, 2000)));
            io.stop();
        });
    }
    inventory.async_run(boost::asio::detached);
    io.run();
    if (!found) return std::nullopt;
    for (const k8s_sd::InventoryCluster& cluster : *found) {
        if (cluster.problem.empty()) continue;
        note(options, k8s_sd::LogLevel::warning, cli::Event::cluster_unusable,
             "cluster " + cli::printable(cluster.ns + "/" + cluster.name, 200) + ": " +
                 cli::printable(cluster.problem, 2000));
    }
    auto configs = configs_of_clusters(without_server(options.config, options.clusters), *found);
    if (configs.empty()) {
        throw cli::Unusable("--cluster-profiles: none of the " + std::to_string(found->size()) +
                            " ClusterProfiles of the hub has a usable cluster");
    }
    return configs;
}

}  // namespace discover
