#pragma once

#include "k8s_sd/discovery_manager.hpp"

#include <string>
#include <vector>

namespace support {

/// A configuration of many jobs, and how it differs from the one before.
struct Step {
    std::string what;
    std::vector<k8s_sd::Job> jobs;
};

/// What happens to the configuration of the simulated shop in the course of time.
std::vector<Step> shop_steps(const std::string& url);

}  // namespace support
