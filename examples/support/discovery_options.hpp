#pragma once

#include "k8s_sd/config.hpp"
#include "support/command_line.hpp"

#include <vector>

namespace support {

/// The options that say what to discover: the same ones in all programs.
std::vector<Option> discovery_options(k8s_sd::DiscoveryConfig&);

}  // namespace support
