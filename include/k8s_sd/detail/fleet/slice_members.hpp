#pragma once

#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"

#include <vector>

namespace k8s_sd::inline v0::detail {

/// Appends the members that a slice names. With dual stack each pod is in two slices, and an
/// endpoint that moves is in two for a moment: a member may come more than once.
void append_members(const api::EndpointSlice&, std::vector<FleetMember>&);

}  // namespace k8s_sd::inline v0::detail
