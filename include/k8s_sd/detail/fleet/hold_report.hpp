#pragma once

#include "k8s_sd/fleet/fleet_rules.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The text about a held view of a fleet, and when to log it. No I/O.
class HoldReport {
 public:
    /// \param reason  why the members cannot be seen; empty: unknown
    void set_reason(std::string reason) { reason_ = std::move(reason); }

    /// Explains a hold to users, and its remedy. Empty for ViewHold::none.
    std::string words(ViewHold) const;

    /// Whether to log the present hold: the same one at most once a minute, however often it comes
    /// and goes.
    /// \param seen  the members have been seen
    bool is_to_log(ViewHold hold, bool seen, TimePoint now) {
        // With the view of a file the source may not have answered yet.
        if (hold == ViewHold::away && !seen && reason_.empty()) return false;
        if (std::exchange(last_, hold) == hold) return false;
        if (!is_alarm(hold) && hold != ViewHold::away) return false;
        const auto logged = logged_.find(hold);
        if (logged != logged_.end() && now - logged->second < std::chrono::minutes(1)) return false;
        logged_.insert_or_assign(hold, now);
        return true;
    }

 private:
    std::string reason_;
    ViewHold last_ = ViewHold::unknown;
    std::map<ViewHold, TimePoint> logged_;
};

inline std::string HoldReport::words(ViewHold hold) const {
    const std::string why = reason_.empty() ? "" : ": " + reason_;
    switch (hold) {
        case ViewHold::none: break;
        case ViewHold::unknown: return "the members are not known yet" + why;
        case ViewHold::no_active_member: return "no member is ready yet";
        case ViewHold::wait_for_size: return "fewer than wait_for_size members are ready";
        case ViewHold::away: return "the members cannot be listed at present" + why;
        case ViewHold::debounce: return "the members have just changed, more changes may follow";
        case ViewHold::hold_down: return "a member has disappeared and may return";
        case ViewHold::empty: return "no member is left, which is implausible";
        case ViewHold::self_missing:
            return "this member is not in the list; check that its name is that of its pod, "
                   "and that the Service selects the pod";
        case ViewHold::half_missing:
            return "more than half of the members disappeared at once, which is implausible";
    }
    return {};
}

}  // namespace k8s_sd::inline v0::detail
