#include "k8s_sd/detail/base/due_time.hpp"
#include "k8s_sd/detail/fleet/lease_sights.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

void LeaseSights::put(const std::string& name, LeaseSight sight, bool is_news, TimePoint now) {
    const bool proven = is_news || sight.member == self_;
    seen_.insert_or_assign(name, Seen{std::move(sight), now, proven});
}

TimePoint LeaseSights::end_of(const Seen& seen) noexcept {
    return due_after(seen.changed, seen.sight.duration);
}

bool LeaseSights::is_alive(const Seen& seen, TimePoint now) noexcept {
    return !seen.expired && !seen.sight.member.empty() && now < end_of(seen);
}

bool LeaseSights::sees_itself(TimePoint now) const {
    return std::any_of(seen_.begin(), seen_.end(), [&](const auto& lease) {
        return lease.second.sight.member == self_ && is_alive(lease.second, now);
    });
}

bool LeaseSights::is_whole(TimePoint now) const {
    return std::all_of(seen_.begin(), seen_.end(), [&](const auto& lease) {
        return lease.second.proven || !is_alive(lease.second, now);
    });
}

void LeaseSights::expire(TimePoint now) {
    for (auto& [name, seen] : seen_) seen.expired = !is_alive(seen, now);
}

void LeaseSights::begin_again(TimePoint now) {
    for (auto& [name, seen] : seen_) {
        if (!seen.expired) seen.changed = now;
    }
}

std::vector<FleetMember> LeaseSights::members(TimePoint now) const {
    std::vector<FleetMember> members;
    for (const auto& [name, seen] : seen_) {
        if (is_alive(seen, now)) members.push_back({seen.sight.member, seen.sight.state});
    }
    return members;
}

std::optional<TimePoint> LeaseSights::next_expiry(TimePoint now) const {
    std::optional<TimePoint> next;
    for (const auto& [name, seen] : seen_) {
        const TimePoint end = end_of(seen);
        if (!seen.expired && end > now && (!next || end < *next)) next = end;
    }
    return next;
}

}  // namespace k8s_sd::inline v0::detail
