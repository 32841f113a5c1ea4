#pragma once

#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/objects/generic.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The names of the cluster inventory API. Source: KEP-4322, KEP-5339.
inline constexpr std::string_view inventory_api_group = "multicluster.x-k8s.io";
inline constexpr std::string_view profile_label = "x-k8s.io/cluster-profile";
inline constexpr std::string_view profile_namespace_label = "x-k8s.io/cluster-profile-namespace";
inline constexpr std::string_view consumer_label = "x-k8s.io/cluster-inventory-consumer";

/// The description of a cluster, without its access. Members of the wrong type count as missing.
InventoryCluster described_cluster(const Generic& profile);

/// The server of a kubeconfig in a Secret.
/// \throws ConfigError for a Secret without a kubeconfig, an invalid one, and one that names
///         programs or files
ApiServerConfig server_of_secret(const api::Secret&);

/// The server of the first access provider with configured credentials.
/// \throws ConfigError without one, with the remedy
ApiServerConfig server_of_profile(const Generic& profile, const InventoryConfig&);

}  // namespace k8s_sd::inline v0::detail
