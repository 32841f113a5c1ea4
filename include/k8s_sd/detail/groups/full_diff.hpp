#pragma once

#include "k8s_sd/target_group.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A diff with the complete state.
/// \param groups  provides group_count() and for_each_group()
template <class Groups>
TargetGroupDiff full_diff(const Groups& groups) {
    TargetGroupDiff diff;
    diff.full = true;
    diff.updated.reserve(groups.group_count());
    groups.for_each_group([&](const TargetGroupPtr& group) {
        diff.updated.push_back({group, nullptr, false});
    });
    return diff;
}

/// The first complete state, collected while its groups are generated: one handler that visits half
/// a million groups takes tens of milliseconds.
class FirstDiff {
 public:
    /// So many further changes can be added without an exception.
    void make_room(std::size_t changes) {
        const std::size_t needed = updated_.size() + changes;
        // Exact at first. Objects created meanwhile must not move all groups in each handler.
        if (updated_.capacity() < needed)
            updated_.reserve(std::max(needed, 2 * updated_.capacity()));
    }
    void add(const std::vector<GroupChange>& changes) {
        for (const GroupChange& change : changes) {
            is_complete_ = is_complete_ && change.group && !change.previous;
            updated_.push_back({change.group, nullptr, false});
        }
    }
    /// \param groups  see full_diff(); visited only if one was generated twice
    template <class Groups>
    TargetGroupDiff take(const Groups& groups) {
        if (!is_complete_) return full_diff(groups);
        TargetGroupDiff diff;
        diff.full = true;
        diff.updated = std::move(updated_);
        return diff;
    }

 private:
    std::vector<GroupChange> updated_;
    bool is_complete_ = true;
};

}  // namespace k8s_sd::inline v0::detail
