#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Packs the members of a view compactly.
std::string pack_view(const FleetView&);

/// The unpacked view. Null for malformed bytes: with more than 100 000 members, or with a name that
/// is empty, longer than 1024 bytes, not UTF-8, or out of order.
FleetViewPtr unpack_view(std::string_view bytes);

}  // namespace k8s_sd::inline v0::detail
