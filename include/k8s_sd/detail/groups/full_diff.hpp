#pragma once

#include "k8s_sd/target_group.hpp"

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

}  // namespace k8s_sd::inline v0::detail
