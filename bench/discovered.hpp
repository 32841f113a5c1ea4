#pragma once

#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <vector>

namespace bench {

/// The target groups of a served cluster's pods: all that a host has after the initial sync.
std::vector<k8s_sd::TargetGroupPtr> discover_groups(std::size_t pods);

}  // namespace bench
