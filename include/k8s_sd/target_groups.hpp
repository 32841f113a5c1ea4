#pragma once

#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <string_view>

namespace k8s_sd::inline v0 {

/// What a host that applies every diff has: all target groups, by source. Not thread-safe.
class TargetGroups {
 public:
    /// Makes the state that follows after the diff.
    void apply(const TargetGroupDiff& diff) {
        if (diff.full) clear();
        for (const GroupChange& change : diff.updated) put(change.group);
        for (const TargetGroupPtr& group : diff.removed) remove(group->source());
    }
    /// A group was added or changed, or removed (`group` null).
    void apply(const GroupChange& change) {
        if (change.group) return put(change.group);
        remove(change.previous->source());
    }
    /// Null if there is no group of that source.
    TargetGroupPtr find(std::string_view source) const {
        const auto it = groups_.find(source);
        return it == groups_.end() ? nullptr : it->second;
    }
    /// Number of groups.
    std::size_t group_count() const noexcept { return groups_.size(); }
    /// Number of targets of all groups.
    std::size_t target_count() const noexcept { return targets_; }
    /// In no particular order.
    template <class Visitor>
    void for_each_group(Visitor&& visit) const {
        for (const auto& [source, group] : groups_) visit(group);
    }
    /// Forgets everything.
    void clear() noexcept {
        groups_.clear();
        targets_ = 0;
    }

 private:
    void put(const TargetGroupPtr& group) {
        remove(group->source());
        // The key is part of the group.
        groups_.emplace(group->source(), group);
        targets_ += group->size();
    }
    void remove(std::string_view source) {
        const auto it = groups_.find(source);
        if (it == groups_.end()) return;
        targets_ -= it->second->size();
        groups_.erase(it);
    }

    boost::unordered_flat_map<std::string_view, TargetGroupPtr, detail::SeededHash> groups_;
    std::size_t targets_ = 0;
};

}  // namespace k8s_sd::inline v0
