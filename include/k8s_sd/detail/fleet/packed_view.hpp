#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The members of a view in few bytes.
std::string pack_view(const FleetView&);

/// The same view. Null for bytes that are none: of more than 100 000 members, or with a name that
/// is empty, longer than 1024 bytes, no UTF-8, or not in its place.
FleetViewPtr unpack_view(std::string_view bytes);

}  // namespace k8s_sd::inline v0::detail
