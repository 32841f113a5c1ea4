#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/discovery_manager.hpp"

#include <string>
#include <vector>

namespace support {

/// A configuration with many jobs, and its difference from the previous one.
struct Step {
    std::string what;
    std::vector<k8s_sd::Job> jobs;
};

/// The targets of the jobs; by default those of the simulated shop.
struct Shop {
    std::string ns = "shop";
    std::string other_ns = "payments";
    std::string selector = "app.kubernetes.io/name=cart";  ///< of labels of pods in `ns`
};

/// The options for a Shop.
cli::Section shop_options(Shop&);

/// The changes of the configuration in the course of time.
/// \param server  a configuration with the server
std::vector<Step> shop_steps(const k8s_sd::DiscoveryConfig& server, const Shop&);

}  // namespace support
