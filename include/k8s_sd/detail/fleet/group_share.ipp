#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/fleet/group_share.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0 {

GroupShare::GroupShare(std::string job, Duration handover)
    : job_(std::move(job)), handover_(handover), share_(nullptr, {}) {}

bool GroupShare::owns(const TargetGroup& group) const noexcept {
    return share_.owns(group.share_key() != 0 ? group.share_key()
                                              : share_key(job_, group.source()));
}

/// Whether the member receives the group.
bool GroupShare::has(const TargetGroup& group) const {
    return owns(group) || moving_.contains(group.source());
}

TargetGroupDiff GroupShare::apply(const TargetGroupDiff& part) {
    TargetGroupDiff mine;
    mine.more = true;
    // Only a whole diff shows which of the moving groups have gone.
    joiner_.add(part, [&](const TargetGroupDiff& diff) { mine = apply_whole(diff); });
    return mine;
}

TargetGroupDiff GroupShare::apply_whole(const TargetGroupDiff& diff) {
    TargetGroupDiff mine;
    mine.full = diff.full;
    mine.unconfirmed = diff.unconfirmed;
    mine.confirms = diff.confirms;
    if (diff.full) {
        all_.clear();
        groups_.clear();
    }
    for (const GroupChange& change : diff.updated) put(change, mine);
    for (const TargetGroupPtr& group : diff.removed) remove(group, mine);
    std::erase_if(moving_, [&](const auto& group) { return !groups_.find(group.first); });
    return mine;
}

void GroupShare::put(const GroupChange& change, TargetGroupDiff& diff) {
    all_.apply(change);
    const TargetGroupPtr before = groups_.find(change.group->source());
    if (!has(*change.group)) {
        // The object was recreated, and now belongs to another share.
        if (before) drop(before, diff);
        return;
    }
    groups_.apply(change);
    diff.updated.push_back({change.group, before, change.replaced});
}

void GroupShare::drop(const TargetGroupPtr& group, TargetGroupDiff& diff) {
    groups_.apply(GroupChange{nullptr, group});
    diff.removed.push_back(group);
}

void GroupShare::remove(const TargetGroupPtr& group, TargetGroupDiff& diff) {
    all_.apply(GroupChange{nullptr, group});
    if (groups_.find(group->source())) drop(group, diff);
}

TargetGroupDiff GroupShare::share(const FleetShare& share, TimePoint now) {
    TargetGroupDiff gained;
    share_ = share;
    all_.for_each_group([&](const TargetGroupPtr& group) {
        const std::string_view source = group->source();
        if (!owns(*group)) {
            if (groups_.find(source)) {
                moving_.try_emplace(std::string(source), detail::due_after(now, handover_));
            }
            return;
        }
        if (const auto it = moving_.find(source); it != moving_.end()) moving_.erase(it);
        if (groups_.find(source)) return;
        gained.updated.push_back({group, nullptr});
        groups_.apply(gained.updated.back());
    });
    return gained;
}

std::optional<TimePoint> GroupShare::next_handover() const noexcept {
    if (moving_.empty()) return std::nullopt;
    const auto earlier = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::min_element(moving_.begin(), moving_.end(), earlier)->second;
}

TargetGroupDiff GroupShare::finish_handovers(TimePoint now) {
    TargetGroupDiff moved;
    for (auto it = moving_.begin(); it != moving_.end();) {
        if (it->second > now) {
            ++it;
            continue;
        }
        moved.removed.push_back(groups_.find(it->first));
        groups_.apply(GroupChange{nullptr, moved.removed.back()});
        it = moving_.erase(it);
    }
    return moved;
}

}  // namespace k8s_sd::inline v0
