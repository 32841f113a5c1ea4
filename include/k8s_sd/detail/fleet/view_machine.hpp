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

/// Decides when what is seen of the members of a fleet becomes its view. Has no clock: who calls
/// says what time it is, and calls advance() at next().
class ViewMachine {
 public:
    ViewMachine(const FleetRules&, std::string self, TimePoint now);

    /// The view of before a restart. It serves until the members are seen, and is followed then as
    /// any other; it says nothing once there is a view, or the members are in sight.
    void remember(FleetViewPtr known, TimePoint now);

    /// These are the members. Of several of one name the best counts: a pod that takes the place of
    /// another one.
    void see(const std::vector<FleetMember>&, TimePoint now);
    /// Nobody can say who the members are. Until see() nothing is concluded from time that passes.
    void lose_sight(TimePoint now);
    void advance(TimePoint now);

    /// When time alone changes something; nullopt: never.
    std::optional<TimePoint> next() const noexcept { return next_; }
    /// Null: none yet.
    const FleetViewPtr& view() const noexcept { return view_; }
    ViewHold hold() const noexcept { return hold_; }
    /// As they were seen last, sorted by name, each once.
    std::vector<FleetMember> members() const;
    bool in_sight() const noexcept { return in_sight_; }

 private:
    using Names = std::vector<std::string>;
    /// A view that is about to come.
    struct Pending {
        Names members;
        TimePoint begun;
        TimePoint changed;
    };

    void update(TimePoint now);
    void begin(TimePoint now);
    void follow(TimePoint now);
    void note_missing(TimePoint now);
    void look_for_self(TimePoint now);
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
    /// Members of the view that are not active and have not said goodbye.
    std::map<std::string, TimePoint, std::less<>> missing_since_;
    /// Members of the view that have.
    std::set<std::string, std::less<>> departed_;
    std::optional<Pending> pending_;
    std::optional<TimePoint> doubtful_since_;
    std::optional<TimePoint> absent_since_;  ///< this member
};

}  // namespace k8s_sd::inline v0::detail
