#pragma once

#include "k8s_sd/labels.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace discover {

/// Text of the cluster, fit for a terminal: no control characters, not too long.
std::string printable(std::string_view text);

/// "2 targets", "1 target"
std::string counted(std::size_t n, std::string_view what);

/// The few labels of a target that tell most about it: "phase=Running ready=true".
std::string telling_labels(k8s_sd::Role role, const k8s_sd::TargetGroup&, std::size_t target);

/// What differs: "pod_phase: Pending -> Running, pod_ready: false -> true".
std::string differences(const k8s_sd::Labels& before, const k8s_sd::Labels& after);

}  // namespace discover
