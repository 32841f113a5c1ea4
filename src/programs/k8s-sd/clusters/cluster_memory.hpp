#pragma once

#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// The clusters of a hub in a file beside the snapshots of their targets, for a start while the hub
/// is away. It has the names and servers, and no credentials. Blocks. Any thread, one at a time.
class ClusterMemory {
 public:
    /// \param files    the directory of the snapshots
    /// \param max_age  older files are ignored
    ClusterMemory(std::shared_ptr<const k8s_sd::detail::SnapshotFiles> files,
                  k8s_sd::Duration max_age);

    /// The content of a file.
    struct Loaded {
        std::vector<k8s_sd::InventoryCluster> clusters{};  ///< usable ones
        std::chrono::seconds age{};
        std::string problem{};  ///< why there are no clusters
    };
    /// \param hub  whose clusters are wanted, see hub_in_words()
    Loaded load(const std::string& hub) const;
    /// \returns the problem; empty: none
    std::string save(const std::string& hub,
                     const std::vector<k8s_sd::InventoryCluster>& clusters) const;

 private:
    const std::shared_ptr<const k8s_sd::detail::SnapshotFiles> files_;
    const k8s_sd::Duration max_age_;
};

/// Identifies a hub and a selection of its clusters.
std::string hub_in_words(const k8s_sd::InventoryConfig&);

}  // namespace k8s_sd_program
