#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"
#include "options.hpp"

#include <optional>
#include <vector>

namespace discover {

/// A configuration for each usable cluster of the ClusterProfiles that the hub lists now. Blocks
/// until they are listed, --timeout is over or a signal comes, and logs clusters without access.
/// \returns nullopt with `status`: they have not been listed
/// \throws support::Unusable if there is no usable cluster
std::optional<std::vector<k8s_sd::DiscoveryConfig>> clusters_of_hub(const Options&,
                                                                    support::ExitStatus& status);

}  // namespace discover
