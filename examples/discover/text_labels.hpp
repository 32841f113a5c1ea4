#pragma once

#include "k8s_sd/labels.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace discover {

/// "2 targets", "1 target"
std::string counted(std::size_t n, std::string_view what);

/// The few labels of a target that tell most about it: "phase=Running ready=true".
std::string telling_labels(k8s_sd::Role role, const k8s_sd::TargetGroup&, std::size_t target);

/// What differs: "pod_phase: Pending -> Running, pod_ready: false -> true".
/// \param of  the role whose own labels have short names: "ready: false -> true" of an
///            endpointslice; without it each label has its name
std::string differences(const k8s_sd::Labels& before, const k8s_sd::Labels& after,
                        std::optional<k8s_sd::Role> of = std::nullopt);

}  // namespace discover
