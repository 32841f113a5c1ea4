#pragma once

#include "k8s_sd/object.hpp"

#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// The number of the audience of an object; what it stands for is the business of whoever keeps
/// the object, see AudienceTable.
struct ObjectAudience {
    /// Of objects whose audience has no number. Their keeper knows them by their address, and no
    /// two of them are taken for equal.
    static constexpr std::uint16_t apart = 65535;

    static std::uint16_t of(const Object& object) noexcept { return object.audience_; }
    /// Only before anybody else has the object.
    static void set(const Object& object, std::uint16_t audience) noexcept {
        const_cast<Object&>(object).audience_ = audience;  // which was not made const
    }
};

}  // namespace k8s_sd::inline v0::detail
