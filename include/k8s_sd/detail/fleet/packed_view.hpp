#pragma once

#include "k8s_sd/detail/discovery/snapshots/packed_reader.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Packs the members of a view compactly: length-prefixed names in the order of the view.
inline std::string pack_view(const FleetView& view) {
    std::string bytes;
    for (const std::string& name : view.members()) pack_value(bytes, name);
    return bytes;
}

/// The unpacked view. Null for malformed bytes: with more than 100 000 members, or with a name that
/// is empty, longer than 1024 bytes, not UTF-8, or out of order.
inline FleetViewPtr unpack_view(std::string_view bytes) {
    constexpr std::size_t max_members = 100'000;
    constexpr std::size_t max_name_size = 1024;
    std::vector<std::string> names;
    PackedReader reader(bytes);
    while (!reader.at_end()) {
        const std::string_view name = reader.utf8();
        const bool in_order = names.empty() || names.back() < name;
        if (name.empty() || name.size() > max_name_size || !in_order) return nullptr;
        if (names.size() == max_members) return nullptr;
        names.emplace_back(name);
    }
    return std::make_shared<const FleetView>(std::move(names));
}

}  // namespace k8s_sd::inline v0::detail
