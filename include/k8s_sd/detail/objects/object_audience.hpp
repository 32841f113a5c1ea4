#pragma once

#include "k8s_sd/object.hpp"

#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// The number of the audience of an object; what it stands for is the business of whoever keeps
/// the object, see AudienceTable.
struct ObjectAudience {
    static std::uint16_t of(const Object& object) noexcept { return object.audience_; }
    /// Only before anybody else has the object.
    static void set(const Object& object, std::uint16_t audience) noexcept {
        const_cast<Object&>(object).audience_ = audience;  // which was not made const
    }
};

}  // namespace k8s_sd::inline v0::detail
