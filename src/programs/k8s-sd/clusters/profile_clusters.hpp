#pragma once

#include "cli/cluster_list.hpp"
#include "cli/profile_options.hpp"
#include "clusters/cluster_memory.hpp"
#include "jobs/serve_metrics.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_program {

/// The clusters that the ClusterProfiles of a hub describe. Used on one strand.
class ProfileClusters {
 public:
    explicit ProfileClusters(boost::asio::any_io_executor strand) : strand_(std::move(strand)) {}

    /// Receives a change of the clusters, and those of them with a new problem.
    using OnChange =
        std::function<void(const k8s_sd::InventoryDiff&, const std::vector<std::string>& problems)>;

    /// How clusters are remembered, for a restart while the hub is away.
    struct Memory {
        k8s_sd::WarmStart warm_start{};         ///< without a directory: not at all
        boost::asio::any_io_executor worker{};  ///< for files; runs one call at a time
        std::shared_ptr<k8s_sd::Clock> clock{};
        std::function<void(const std::string&)> warn{};  ///< of problems with the file
    };

    /// \param label      of the names of clusters; empty: the default
    /// \param on_change  called as if by post
    /// \throws k8s_sd::ConfigError
    void start(const k8s_sd::InventoryConfig&, const std::string& label, Memory,
               OnChange on_change);
    void stop();

    /// Whether the clusters are known, if they are wanted at all.
    bool known() const noexcept { return known_ || !inventory_; }
    /// Why they are not, in words. Any thread.
    std::string why_unknown() const;
    /// A configuration without a role for each usable cluster.
    std::vector<k8s_sd::DiscoveryConfig> servers() const;
    /// The other ones: their names, with the reasons.
    std::map<std::string, std::string> unusable() const { return clusters_.unusable(); }
    /// The same as the health of servers.
    std::vector<k8s_sd::ServerHealth> unusable_servers() const;
    /// Failing watches and clusters without access, one a line; the first ones.
    std::string trouble() const;
    /// In Prometheus' text format; empty if they are not wanted.
    std::string metrics() const;

 private:
    std::vector<std::string> take(const k8s_sd::InventoryDiff&);
    void wait_for_hub(OnChange);
    void use(const ClusterMemory::Loaded&, const OnChange&);
    void save_later(k8s_sd::Duration pause);
    void save();

    const boost::asio::any_io_executor strand_;
    std::string label_;
    cli::ClusterList clusters_;
    bool known_ = false;
    std::string hub_;  ///< in words
    Memory memory_;
    std::shared_ptr<const ClusterMemory> file_;  ///< null: clusters are not remembered
    std::unique_ptr<k8s_sd::Timer> timer_;       ///< for the hub, then for the next writing
    std::string remembered_;                     ///< in words, that clusters are; empty: not
    std::string write_problem_;
    std::vector<k8s_sd::InventoryCluster> saved_;
    bool stopped_ = false;
    std::optional<k8s_sd::ClusterInventory> inventory_;  ///< empty: they are not wanted
};

}  // namespace k8s_sd_program
