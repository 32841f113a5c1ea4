#pragma once

#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"

#include <vector>

namespace k8s_sd::inline v0::detail {

/// Appends the members of a slice. A member may occur more than once: with dual stack each pod is
/// in two slices, and an endpoint moving between slices is in both for a moment.
void append_members(const api::EndpointSlice&, std::vector<FleetMember>&);

}  // namespace k8s_sd::inline v0::detail
