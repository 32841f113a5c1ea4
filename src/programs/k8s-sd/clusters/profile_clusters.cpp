#include "clusters/profile_clusters.hpp"

#include "cli/terminal_text.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/detached.hpp>
#include <cstddef>
#include <utility>

namespace k8s_sd_program {

std::string name_of(const k8s_sd::InventoryCluster& cluster) {
    return cluster.ns + "/" + cluster.name;
}

void ProfileClusters::start(const k8s_sd::InventoryConfig& config, const std::string& label,
                            OnChange on_change) {
    label_ = label;
    inventory_.emplace(strand_, config,
                       [this, on_change = std::move(on_change)](const k8s_sd::InventoryDiff& diff) {
                           on_change(diff, take(diff));
                       });
    inventory_->async_run(boost::asio::detached);
}

void ProfileClusters::stop() {
    if (inventory_) inventory_->cancel();
}

/// \returns the new problems, in words
std::vector<std::string> ProfileClusters::take(const k8s_sd::InventoryDiff& diff) {
    known_ = true;
    std::vector<std::string> problems;
    for (const k8s_sd::InventoryCluster& cluster : diff.updated) {
        const std::string name = name_of(cluster);
        k8s_sd::InventoryCluster& known = clusters_[name];
        if (!cluster.problem.empty() && cluster.problem != known.problem) {
            problems.push_back("cluster " + cli::printable(name, 200) + ": " +
                               cli::printable(cluster.problem, 2000));
        }
        known = cluster;
    }
    for (const k8s_sd::InventoryCluster& cluster : diff.removed) clusters_.erase(name_of(cluster));
    return problems;
}

std::string ProfileClusters::why_unknown() const {
    std::string text = "the ClusterProfiles of the hub have not been listed yet";
    const k8s_sd::InventoryStatus status = inventory_->status();
    for (const std::string& message : {status.profiles.message, status.secrets.message})
        if (!message.empty()) text += "; " + cli::printable(message, 2000);
    return text;
}

std::vector<k8s_sd::DiscoveryConfig> ProfileClusters::servers() const {
    k8s_sd::DiscoveryConfig config;
    if (!label_.empty()) config.cluster.label = label_;
    std::vector<k8s_sd::InventoryCluster> all;
    for (const auto& [name, cluster] : clusters_) all.push_back(cluster);
    return configs_of_clusters(config, all);
}

std::map<std::string, std::string> ProfileClusters::unusable() const {
    std::map<std::string, std::string> problems;
    for (const auto& [name, cluster] : clusters_)
        if (cluster.api_server.url.empty()) problems[name] = cluster.problem;
    return problems;
}

std::vector<k8s_sd::ServerHealth> ProfileClusters::unusable_servers() const {
    std::vector<k8s_sd::ServerHealth> servers;
    for (auto& [name, problem] : unusable()) {
        k8s_sd::ServerHealth& server = servers.emplace_back();
        server.cluster = name;
        server.error = make_error_code(k8s_sd::errc::not_found);
        server.message = problem;
        server.configs = server.unusable = 1;
    }
    return servers;
}

std::string ProfileClusters::trouble() const {
    if (!inventory_) return {};
    constexpr std::size_t max_lines = 50;
    const k8s_sd::InventoryStatus status = inventory_->status();
    std::string text;
    if (!status.profiles.message.empty())
        text +=
            "ClusterProfiles of the hub: " + cli::printable(status.profiles.message, 2000) + "\n";
    if (!status.secrets.message.empty())
        text +=
            "Secrets of ClusterProfiles: " + cli::printable(status.secrets.message, 2000) + "\n";
    if (known_ && clusters_.empty()) text += "the hub has no ClusterProfile that is selected\n";
    std::size_t problems = 0;
    for (const auto& [name, cluster] : clusters_) {
        if (cluster.problem.empty() || ++problems > max_lines) continue;
        const bool is_usable = !cluster.api_server.url.empty();
        text += "cluster " + cli::printable(name, 200) +
                (is_usable ? " has no present access, and its last one is used: "
                           : " cannot be discovered: ") +
                cli::printable(cluster.problem, 2000) + "\n";
    }
    if (problems > max_lines)
        text += std::to_string(problems - max_lines) + " more clusters have no access\n";
    return text;
}

std::string ProfileClusters::metrics() const {
    if (!inventory_) return {};
    const k8s_sd::InventoryStatus status = inventory_->status();
    const std::size_t bad = unusable().size();
    return to_text(ProfileMetrics{.usable = clusters_.size() - bad,
                                  .unusable = bad,
                                  .fails = status.profiles.error || status.secrets.error});
}

}  // namespace k8s_sd_program
