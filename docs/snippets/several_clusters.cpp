// Snippets of docs/guide/several-clusters.md.

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace snippets::several_clusters {

[[maybe_unused]] static void several_servers(k8s_sd::DiscoveryManager& manager) {
    //[servers
    k8s_sd::DiscoveryConfig blue{.role = k8s_sd::Role::pod, .cluster = {"blue"}};
    blue.api_server.url = "https://blue.example.com";
    k8s_sd::DiscoveryConfig green{.role = k8s_sd::Role::pod, .cluster = {"green"}};
    green.api_server.url = "https://green.example.com";
    manager.apply_config({{"pods", {blue, green}}});
    //]
}

[[maybe_unused]] static void contexts(k8s_sd::DiscoveryManager& manager) {
    //[contexts
    k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod};
    config.kubeconfig_file = "/etc/k8s/kubeconfig";
    const std::vector<std::string> contexts = k8s_sd::kubeconfig_contexts(config.kubeconfig_file);
    manager.apply_config({{"pods", configs_of_contexts(config, contexts)}});
    //]
}

[[maybe_unused]] static void health(const k8s_sd::DiscoveryManager& manager) {
    //[health
    for (const k8s_sd::ServerHealth& server : manager.servers()) {
        std::cerr << server.cluster << ": " << (server.synced ? "complete" : "incomplete") << ", "
                  << server.targets << " targets, " << server.usage.requests << " requests "
                  << server.message << '\n';
    }
    std::cout << to_prometheus_text(manager.servers());
    //]
}

[[maybe_unused]] static void inventory(boost::asio::io_context& io,
                                       k8s_sd::DiscoveryManager& manager) {
    //[inventory
    k8s_sd::ClusterInventory inventory(
        io.get_executor(), {.kubeconfig_file = "/etc/k8s/hub"},
        [&](const k8s_sd::InventoryDiff& diff) {
            for (const k8s_sd::InventoryCluster& cluster : diff.updated) {
                if (!cluster.problem.empty()) std::cerr << cluster.problem << '\n';
            }
            const k8s_sd::DiscoveryConfig pods{.role = k8s_sd::Role::pod};
            manager.apply_config({{"pods", configs_of_clusters(pods, inventory.clusters())}});
        });
    inventory.async_run(boost::asio::detached);
    //]
}

}  // namespace snippets::several_clusters
