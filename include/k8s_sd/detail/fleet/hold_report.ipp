#include "k8s_sd/detail/fleet/hold_report.hpp"

namespace k8s_sd::inline v0::detail {

std::string HoldReport::words(ViewHold hold) const {
    const std::string why = reason_.empty() ? "" : ": " + reason_;
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
