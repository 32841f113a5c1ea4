#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cli {

/// The name of the cluster as a label.
std::string name_of(const k8s_sd::InventoryCluster&);

/// The clusters that the ClusterProfiles of a hub describe, as delivered by a ClusterInventory.
class ClusterList {
 public:
    /// Applies a diff. \returns the new problems, in words
    std::vector<std::string> apply(const k8s_sd::InventoryDiff&);

    std::size_t size() const noexcept { return clusters_.size(); }
    std::vector<k8s_sd::InventoryCluster> all() const;
    /// A configuration for each usable cluster, see configs_of_clusters().
    std::vector<k8s_sd::DiscoveryConfig> configs(const k8s_sd::DiscoveryConfig& base) const;
    /// The other ones: their names, with the reasons.
    std::map<std::string, std::string> unusable() const;

 private:
    std::map<std::string, k8s_sd::InventoryCluster> clusters_;  ///< by name
};

}  // namespace cli
