#pragma once

#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <vector>

namespace bench {

/// The target groups of a served cluster's pods: the host's state after the initial sync.
std::vector<k8s_sd::TargetGroupPtr> discover_groups(std::size_t pods);

}  // namespace bench
