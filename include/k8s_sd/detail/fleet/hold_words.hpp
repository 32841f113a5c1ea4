#pragma once

#include "k8s_sd/fleet/fleet_rules.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Explains a hold to users, and its remedy. Empty for ViewHold::none.
/// \param reason  why the members cannot be seen; empty: unknown
inline std::string hold_in_words(ViewHold hold, std::string_view reason) {
    const std::string why = reason.empty() ? "" : ": " + std::string(reason);
    switch (hold) {
        case ViewHold::none: break;
        case ViewHold::unknown: return "the members have not been seen yet" + why;
        case ViewHold::no_active_member: return "no member is ready yet";
        case ViewHold::wait_for_size: return "fewer members are ready than wait_for_size says";
        case ViewHold::away: return "the members cannot be seen now" + why;
        case ViewHold::debounce: return "a change has been seen, and may be followed by others";
        case ViewHold::hold_down: return "a member has vanished, and may be back";
        case ViewHold::empty: return "no member is left, which is hard to believe";
        case ViewHold::self_missing:
            return "this member is not among those that are seen; look whether its name is that of "
                   "its pod, and whether the Service selects the pod";
        case ViewHold::shrunken:
            return "more than half of the members have vanished at once, which is hard to believe";
    }
    return {};
}

}  // namespace k8s_sd::inline v0::detail
