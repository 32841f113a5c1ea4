#pragma once

#include "k8s_sd/fleet/fleet_rules.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/time.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Decides when the visible members of a fleet become its view. It has no clock: the caller passes
/// the time, and calls advance() at next().
class ViewMachine {
 public:
    ViewMachine(const FleetRules&, std::string self, TimePoint now);

    /// The view stored before a restart. It is used until the members are seen, and followed like
    /// any other then; ignored once there is a view, or the members are in sight.
    void remember(FleetViewPtr known, TimePoint now);

    /// The present members. Of several with one name the best state counts: one pod may replace
    /// another.
    void see(const std::vector<FleetMember>&, TimePoint now);
    /// The source cannot see the members. Until see() is called, passing time has no effect.
    void lose_sight(TimePoint now);
    void advance(TimePoint now);

    /// When to call advance() next; nullopt: only an event changes the state.
    std::optional<TimePoint> next() const noexcept { return next_; }
    /// Null: none yet.
    const FleetViewPtr& view() const noexcept { return view_; }
    ViewHold hold() const noexcept { return hold_; }
    /// The last seen members, sorted by name and unique.
    std::vector<FleetMember> members() const;
    bool in_sight() const noexcept { return in_sight_; }

 private:
    using Names = std::vector<std::string>;
    /// The next view, while it is being debounced.
    struct Pending {
        Names members;
        TimePoint begun;
        TimePoint changed;
    };

    void update(TimePoint now);
    void begin(TimePoint now);
    void follow(TimePoint now);
    void note_missing(TimePoint now);
    void check_self(TimePoint now);
    Names active() const;
    Names expected(TimePoint now) const;
    ViewHold doubt_about(const Names& members) const;
    TimePoint due_of(const Names& members, ViewHold doubt, TimePoint now);
    void adopt(Names members);
    void wait_until(TimePoint when);

    const FleetRules rules_;
    const std::string self_;
    const TimePoint begun_;

    bool in_sight_ = false;
    std::map<std::string, MemberState, std::less<>> seen_;
    FleetViewPtr view_;
    ViewHold hold_ = ViewHold::unknown;
    std::optional<TimePoint> next_;
    /// Members of the view neither active nor departed.
    std::map<std::string, TimePoint, std::less<>> missing_since_;
    /// Members of the view last seen leaving.
    std::set<std::string, std::less<>> departed_;
    std::optional<Pending> pending_;
    std::optional<TimePoint> doubtful_since_;
    std::optional<TimePoint> absent_since_;  ///< for this member
};

}  // namespace k8s_sd::inline v0::detail
