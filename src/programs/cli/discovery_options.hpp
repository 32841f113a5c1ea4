#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"

#include <vector>

namespace cli {

/// The options for the targets to discover, common to all programs.
std::vector<Option> discovery_options(k8s_sd::DiscoveryConfig&);

}  // namespace cli
