#pragma once

#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_groups.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Undelivered changes, one entry for each source: bounded by the number of groups, not of events.
/// Changes of a group are coalesced; a reverted change disappears.
class PendingChanges {
 public:
    void add(const GroupChange& change) {
        const std::string_view source = (change.group ? change.group : change.previous)->source();
        const auto it = changes_.find(source);
        if (it == changes_.end()) {
            // The key is a view into a group kept alive by the value.
            changes_.emplace(source, change);
            return;
        }
        GroupChange merged{change.group, it->second.previous,
                           it->second.replaced || change.replaced};
        changes_.erase(it);
        if (is_change(merged)) {
            const auto& alive = merged.group ? merged.group : merged.previous;
            const std::string_view key = alive->source();
            changes_.emplace(key, std::move(merged));
        }
    }
    bool empty() const noexcept { return changes_.empty(); }
    void clear() { changes_.clear(); }

    TargetGroupDiff get() const {
        TargetGroupDiff diff;
        diff.updated.reserve(changes_.size());
        for (const auto& [source, change] : changes_) {
            if (change.group) {
                diff.updated.push_back(change);
            } else {
                diff.removed.push_back(change.previous);
            }
        }
        return diff;
    }
    TargetGroupDiff take() {
        TargetGroupDiff diff = get();
        changes_ = {};  // free the memory of a burst
        return diff;
    }
    /// The removal of everything the host has. `newest` is the present state, including the
    /// undelivered changes.
    TargetGroupDiff get_removal(const TargetGroups& newest) const {
        TargetGroupDiff diff;
        diff.removed.reserve(newest.group_count());
        newest.for_each_group([&](const TargetGroupPtr& group) {
            if (!changes_.contains(group->source())) diff.removed.push_back(group);
        });
        for (const auto& [source, change] : changes_) {
            if (change.previous) diff.removed.push_back(change.previous);
        }
        return diff;
    }

 private:
    static bool is_change(const GroupChange& change) {
        if (!change.group || !change.previous) return change.group != change.previous;
        return change.replaced || !(*change.group == *change.previous);
    }

    boost::unordered_flat_map<std::string_view, GroupChange, SeededHash> changes_;
};

}  // namespace k8s_sd::inline v0::detail
