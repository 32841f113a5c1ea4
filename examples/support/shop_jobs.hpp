#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "support/command_line.hpp"

#include <string>
#include <vector>

namespace support {

/// A configuration of many jobs, and how it differs from the one before.
struct Step {
    std::string what;
    std::vector<k8s_sd::Job> jobs;
};

/// What the jobs discover; by default of the simulated shop.
struct Shop {
    std::string ns = "shop";
    std::string other_ns = "payments";
    std::string selector = "app.kubernetes.io/name=cart";  ///< of labels of pods in `ns`
};

/// The options that set it.
Section shop_options(Shop&);

/// What happens to the configuration in the course of time.
/// \param server  names the server
std::vector<Step> shop_steps(const k8s_sd::DiscoveryConfig& server, const Shop&);

}  // namespace support
