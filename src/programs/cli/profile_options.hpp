#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"

#include <string>
#include <vector>

namespace cli {

/// The options for ClusterProfiles.
struct ProfileOptions {
    std::vector<std::string> namespaces;  ///< of the ClusterProfiles; empty: all
    std::string selector;                 ///< of their labels
};

/// \param enabled  becomes true with any of the options
/// \param meaning  of --cluster-profiles
Section profile_options(ProfileOptions&, bool& enabled, const std::string& meaning);

/// The inventory of this hub.
k8s_sd::InventoryConfig inventory_of(const k8s_sd::DiscoveryConfig& hub, const ProfileOptions&);

}  // namespace cli
