#pragma once

#include "cli/cluster_list.hpp"
#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "options.hpp"

#include <boost/asio/io_context.hpp>
#include <functional>
#include <vector>

namespace discover {

/// The clusters described by the ClusterProfiles of a hub, the server of the options. Logs those
/// without access. Used on the thread of the context.
class HubClusters {
 public:
    /// Watches them from now on.
    HubClusters(boost::asio::io_context&, const Options&);
    HubClusters(const HubClusters&) = delete;
    HubClusters& operator=(const HubClusters&) = delete;

    /// Runs the context until they are listed, --timeout is over or a signal comes.
    /// \returns whether they are listed; if not, the program ends with `status`
    bool wait(cli::ExitStatus& status);
    /// A configuration for each usable cluster.
    const std::vector<k8s_sd::DiscoveryConfig>& configs() const noexcept { return configs_; }
    /// The number of all clusters.
    std::size_t size() const noexcept { return clusters_.size(); }
    /// Calls the function after each change of configs().
    void follow(std::function<void()> on_change) { on_change_ = std::move(on_change); }
    void stop() { inventory_.cancel(); }

 private:
    void take(const k8s_sd::InventoryDiff&);

    boost::asio::io_context& io_;
    const Options options_;
    cli::ClusterList clusters_;
    std::vector<k8s_sd::DiscoveryConfig> configs_;
    bool listed_ = false;
    std::function<void()> on_change_;
    k8s_sd::ClusterInventory inventory_;
};

}  // namespace discover
