#include "cli/cluster_list.hpp"

#include "cli/terminal_text.hpp"

namespace cli {

std::string name_of(const k8s_sd::InventoryCluster& cluster) {
    return cluster.ns + "/" + cluster.name;
}

std::vector<std::string> ClusterList::apply(const k8s_sd::InventoryDiff& diff) {
    if (diff.full) clusters_.clear();
    std::vector<std::string> problems;
    for (const k8s_sd::InventoryCluster& cluster : diff.updated) {
        const std::string name = name_of(cluster);
        k8s_sd::InventoryCluster& known = clusters_[name];
        if (!cluster.problem.empty() && cluster.problem != known.problem) {
            problems.push_back("cluster " + printable(name, 200) + ": " +
                               printable(cluster.problem, 2000));
        }
        known = cluster;
    }
    for (const k8s_sd::InventoryCluster& cluster : diff.removed) clusters_.erase(name_of(cluster));
    return problems;
}

std::vector<k8s_sd::InventoryCluster> ClusterList::all() const {
    std::vector<k8s_sd::InventoryCluster> result;
    for (const auto& [name, cluster] : clusters_) result.push_back(cluster);
    return result;
}

std::vector<k8s_sd::DiscoveryConfig> ClusterList::configs(
    const k8s_sd::DiscoveryConfig& base) const {
    return configs_of_clusters(base, all());
}

std::map<std::string, std::string> ClusterList::unusable() const {
    std::map<std::string, std::string> problems;
    for (const auto& [name, cluster] : clusters_)
        if (cluster.api_server.url.empty()) problems[name] = cluster.problem;
    return problems;
}

}  // namespace cli
