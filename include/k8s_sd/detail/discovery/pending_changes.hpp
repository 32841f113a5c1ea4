#pragma once

#include "k8s_sd/detail/base/coalesced_changes.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_groups.hpp"

#include <functional>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Undelivered changes of target groups, coalesced by source.
class PendingChanges {
 public:
    void add(const GroupChange& change) {
        // The producers report true changes only, so only a sum needs a comparison.
        changes_.add(change,
                     [](const GroupChange& sum, bool is_sum) { return !is_sum || is_change(sum); });
    }
    bool empty() const noexcept { return changes_.empty(); }
    void clear() noexcept { changes_.clear(); }

    TargetGroupDiff get() const {
        TargetGroupDiff diff;
        diff.updated.reserve(changes_.size());
        changes_.for_each([&](const GroupChange& change) {
            if (change.group) {
                diff.updated.push_back(change);
            } else {
                diff.removed.push_back(change.previous);
            }
        });
        return diff;
    }
    TargetGroupDiff take() {
        TargetGroupDiff diff = get();
        changes_.clear();
        return diff;
    }
    /// Calls `visit(const TargetGroup&)` for each group removed.
    template <class Visitor>
    void for_each_removed(const Visitor& visit) const {
        changes_.for_each([&](const GroupChange& change) {
            if (!change.group) visit(*change.previous);
        });
    }
    /// Whether the group with this source is removed.
    bool removes(std::string_view source) const {
        const GroupChange* const change = changes_.find(source);
        return change && !change->group;
    }
    /// Whether there is a change of the group with this source.
    bool contains(std::string_view source) const { return changes_.contains(source); }
    /// The removal of everything the host has. `newest` is the present state, including the
    /// undelivered changes.
    /// \param has  bool(const TargetGroup&): whether a group of the state is one of the host's
    template <class Has>
    TargetGroupDiff get_removal(const TargetGroups& newest, const Has& has) const {
        TargetGroupDiff diff;
        newest.for_each_group([&](const TargetGroupPtr& group) {
            if (!contains(group->source()) && has(*group)) diff.removed.push_back(group);
        });
        changes_.for_each([&](const GroupChange& change) {
            if (change.previous) diff.removed.push_back(change.previous);
        });
        return diff;
    }
    TargetGroupDiff get_removal(const TargetGroups& newest) const {
        return get_removal(newest, [](const TargetGroup&) { return true; });
    }

 private:
    struct BySource {
        using Change = GroupChange;
        using Key = std::string_view;
        using Hash = SeededHash;
        using Equal = std::equal_to<Key>;
        static Key key_of(const GroupChange& change) {
            return (change.group ? change.group : change.previous)->source();
        }
        static GroupChange sum_of(const GroupChange& earlier, const GroupChange& later) {
            return {later.group, earlier.previous, earlier.replaced || later.replaced};
        }
    };

    static bool is_change(const GroupChange& change) {
        if (!change.group || !change.previous) return change.group != change.previous;
        return change.replaced || !(*change.group == *change.previous);
    }

    CoalescedChanges<BySource> changes_;
};

}  // namespace k8s_sd::inline v0::detail
