#pragma once

#include "k8s_sd/labels.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace discover {

/// The few most informative labels of a target: "phase=Running ready=true".
std::string distinctive_labels(k8s_sd::Role role, const k8s_sd::TargetGroup&, std::size_t target);

/// The differences: "pod_phase: Pending -> Running, pod_ready: false -> true".
/// \param of  role with short names for its own labels: "ready: false -> true" for an
///            endpointslice; without it each label has its full name
std::string differences(const k8s_sd::Labels& before, const k8s_sd::Labels& after,
                        std::optional<k8s_sd::Role> of = std::nullopt);

}  // namespace discover
