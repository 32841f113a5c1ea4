#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/fleet/view_machine.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Whether `a` is the better state for a name seen twice: active, then joining, then leaving.
bool is_better(MemberState a, MemberState b) noexcept {
    const auto rank = [](MemberState state) {
        return state == MemberState::active ? 2 : state == MemberState::joining ? 1 : 0;
    };
    return rank(a) > rank(b);
}

}  // namespace

ViewMachine::ViewMachine(const FleetRules& rules, std::string self, TimePoint now)
    : rules_(rules), self_(std::move(self)), begun_(now) {}

void ViewMachine::remember(FleetViewPtr known, TimePoint now) {
    if (view_ || in_sight_) return;
    view_ = std::move(known);
    update(now);
}

void ViewMachine::see(const std::vector<FleetMember>& members, TimePoint now) {
    seen_.clear();
    for (const FleetMember& member : members) {
        const auto [it, is_new] = seen_.try_emplace(member.name, member.state);
        if (!is_new && is_better(member.state, it->second)) it->second = member.state;
    }
    if (!std::exchange(in_sight_, true)) {
        // Events of the outage are unknown: restart every wait.
        missing_since_.clear();
        pending_.reset();
        doubtful_since_.reset();
    }
    update(now);
}

void ViewMachine::lose_sight(TimePoint now) {
    in_sight_ = false;
    update(now);
}

void ViewMachine::advance(TimePoint now) { update(now); }

std::vector<FleetMember> ViewMachine::members() const {
    std::vector<FleetMember> members;
    for (const auto& [name, state] : seen_) members.push_back({name, state});
    return members;
}

void ViewMachine::update(TimePoint now) {
    next_.reset();
    if (!in_sight_) {
        hold_ = view_ ? ViewHold::away : ViewHold::unknown;
    } else if (view_) {
        follow(now);
    } else {
        begin(now);
    }
    check_self(now);
}

/// Detects a view without this member: the others may have divided everything among them.
void ViewMachine::check_self(TimePoint now) {
    if (!in_sight_ || !view_ || seen_.contains(self_) || departed_.contains(self_)) {
        absent_since_.reset();
        return;
    }
    if (!absent_since_) absent_since_ = now;
    const TimePoint due = due_after(*absent_since_, rules_.alarm_hold);
    if (now < due) {
        if (!next_ || due < *next_) next_ = due;
    } else if (hold_ == ViewHold::none) {
        hold_ = ViewHold::self_missing;
    }
}

/// The first view needs no handover, so it is published as early as the rules allow.
void ViewMachine::begin(TimePoint now) {
    Names members = active();
    if (members.empty()) {
        hold_ = ViewHold::no_active_member;
        return;
    }
    const TimePoint limit = rules_.wait_timeout == Duration::zero()
                                ? TimePoint::max()
                                : due_after(begun_, rules_.wait_timeout);
    if (members.size() >= rules_.wait_for_size || now >= limit) return adopt(std::move(members));
    hold_ = ViewHold::wait_for_size;
    wait_until(limit);
}

void ViewMachine::follow(TimePoint now) {
    note_missing(now);
    Names members = expected(now);
    hold_ = missing_since_.empty() ? ViewHold::none : ViewHold::hold_down;
    if (std::equal(members.begin(), members.end(), view_->members().begin(),
                   view_->members().end())) {
        pending_.reset();
        doubtful_since_.reset();
        return wait_until(TimePoint::max());
    }
    const ViewHold doubt = doubt_about(members);
    const TimePoint due = due_of(members, doubt, now);
    if (now >= due) return adopt(std::move(members));
    hold_ = doubt == ViewHold::none ? ViewHold::debounce : doubt;
    wait_until(due);
}

/// A terminating member has left; a member that just vanishes may return.
void ViewMachine::note_missing(TimePoint now) {
    for (const std::string& name : view_->members()) {
        const auto it = seen_.find(name);
        if (it == seen_.end() || it->second == MemberState::joining) {
            if (!departed_.contains(name)) missing_since_.try_emplace(name, now);
            continue;
        }
        missing_since_.erase(name);
        if (it->second == MemberState::leaving) {
            departed_.insert(name);
        } else {
            departed_.erase(name);
        }
    }
}

ViewMachine::Names ViewMachine::active() const {
    Names names;
    for (const auto& [name, state] : seen_) {
        if (state == MemberState::active) names.push_back(name);
    }
    return names;
}

/// The active members, and missing ones expected to return.
ViewMachine::Names ViewMachine::expected(TimePoint now) const {
    Names names = active();
    for (const auto& [name, since] : missing_since_) {
        if (now < due_after(since, rules_.hold_down)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Why these members are implausible; ViewHold::none: they are plausible.
ViewHold ViewMachine::doubt_about(const Names& members) const {
    if (members.empty()) return ViewHold::empty;
    if (view_->contains(self_) && !seen_.contains(self_) && !departed_.contains(self_)) {
        return ViewHold::self_missing;
    }
    const auto is_gone = [&](const std::string& name) {
        return !departed_.contains(name) &&
               !std::binary_search(members.begin(), members.end(), name);
    };
    const auto all = view_->members();
    const auto vanished = std::count_if(all.begin(), all.end(), is_gone);
    if (static_cast<std::size_t>(vanished) * 2 > all.size()) return ViewHold::half_missing;
    return ViewHold::none;
}

/// When these members become the view, unless anything changes.
TimePoint ViewMachine::due_of(const Names& members, ViewHold doubt, TimePoint now) {
    if (!pending_) pending_ = Pending{members, now, now};
    if (pending_->members != members) {
        pending_->members = members;
        pending_->changed = now;
    }
    const TimePoint due = std::min(due_after(pending_->changed, rules_.debounce),
                                   due_after(pending_->begun, rules_.debounce_limit));
    if (doubt == ViewHold::none) {
        doubtful_since_.reset();
        return due;
    }
    if (!doubtful_since_) doubtful_since_ = now;
    return std::max(due, due_after(*doubtful_since_, rules_.alarm_hold));
}

void ViewMachine::adopt(Names members) {
    view_ = std::make_shared<const FleetView>(std::move(members));
    pending_.reset();
    doubtful_since_.reset();
    std::erase_if(missing_since_, [&](const auto& m) { return !view_->contains(m.first); });
    std::erase_if(departed_, [&](const auto& name) { return !view_->contains(name); });
    hold_ = missing_since_.empty() ? ViewHold::none : ViewHold::hold_down;
    wait_until(TimePoint::max());
}

/// Sets the next time: `when`, or earlier if a missing member is given up before.
void ViewMachine::wait_until(TimePoint when) {
    for (const auto& [name, since] : missing_since_) {
        const bool given_up = pending_ && !std::binary_search(pending_->members.begin(),
                                                              pending_->members.end(), name);
        if (!given_up) when = std::min(when, due_after(since, rules_.hold_down));
    }
    if (when != TimePoint::max()) next_ = when;
}

}  // namespace k8s_sd::inline v0::detail
