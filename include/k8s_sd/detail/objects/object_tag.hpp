#pragma once

#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/objects/object.hpp"

#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// The number of an object's set of matching views, as assigned by its store; see ViewSetTable.
struct ObjectTag {
    /// For objects whose set has no number. The store maps their addresses to sets; no two of them
    /// compare equal.
    static constexpr std::uint16_t apart = 65535;

    static std::uint16_t of(const Object& object) noexcept { return Access::tag(object); }
    /// Only before the object is shared.
    static void set(const Object& object, std::uint16_t tag) noexcept {
        Access::tag(const_cast<Object&>(object)) = tag;  // the object itself is not const
    }
};

}  // namespace k8s_sd::inline v0::detail
