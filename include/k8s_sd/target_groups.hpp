#pragma once

#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/split_set.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
class Provider;
}

/// All target groups by source, as a host has them after it applied every diff. Not thread-safe.
class TargetGroups {
 public:
    /// Applies a diff.
    void apply(const TargetGroupDiff& diff) {
        if (diff.full) clear();
        for (const GroupChange& change : diff.updated) put(change.group);
        for (const TargetGroupPtr& group : diff.removed) remove(group->source());
    }
    /// Applies one change: a group added or changed, or removed (`group` null).
    void apply(const GroupChange& change) {
        if (change.group) return put(change.group);
        remove(change.previous->source());
    }
    /// The group of this source; null if there is none.
    TargetGroupPtr find(std::string_view source) const {
        const TargetGroupPtr* const known = groups_.find(source);
        return known ? *known : nullptr;
    }
    /// Number of groups.
    std::size_t group_count() const noexcept { return groups_.size(); }
    /// Number of targets in all groups.
    std::size_t target_count() const noexcept { return targets_; }
    /// Calls `visit` for each group, in no particular order.
    template <class Visitor>
    void for_each_group(Visitor&& visit) const {
        groups_.for_each([&](const TargetGroupPtr& group) { visit(group); });
    }
    /// Drops all groups.
    void clear() noexcept {
        groups_ = {};
        targets_ = 0;
    }

 private:
    void put(const TargetGroupPtr& group) {
        if (const TargetGroupPtr* const known = groups_.find(group->source())) {
            targets_ -= (*known)->size();
            const_cast<TargetGroupPtr&>(*known) = group;  // the same source has the same hash
        } else {
            groups_.insert(group);
        }
        targets_ += group->size();
    }
    void remove(std::string_view source) {
        const TargetGroupPtr* const known = groups_.find(source);
        if (!known) return;
        targets_ -= (*known)->size();
        groups_.erase(source);
    }

    struct Hash : detail::SeededHash {
        using is_transparent = void;
        using detail::SeededHash::operator();
        std::size_t operator()(const TargetGroupPtr& group) const noexcept {
            return (*this)(group->source());
        }
    };
    struct SameSource {
        using is_transparent = void;
        static std::string_view source(std::string_view source) noexcept { return source; }
        static std::string_view source(const TargetGroupPtr& group) noexcept {
            return group->source();
        }
        template <class A, class B>
        bool operator()(const A& a, const B& b) const noexcept {
            return source(a) == source(b);
        }
    };

    detail::SplitSet<TargetGroupPtr, Hash, SameSource> groups_;
    std::size_t targets_ = 0;
};

/// The present targets of one provider of a DiscoveryManager, possibly ahead of the delivered
/// diffs. Once the manager has ended, they stay as they are. Thread-safe.
class LiveTargets {
 public:
    LiveTargets(const LiveTargets&) = delete;
    LiveTargets& operator=(const LiveTargets&) = delete;

    /// Calls `visit(const TargetGroups&)` under a mutex, so it must be short. It must not call any
    /// function of the manager, nor release a JobDiff.
    template <class Visitor>
    decltype(auto) read(Visitor&& visit) const {
        const std::lock_guard lock(mutex_);
        return std::forward<Visitor>(visit)(groups_);
    }
    /// Number of targets in all groups.
    std::size_t target_count() const {
        return read([](const TargetGroups& groups) { return groups.target_count(); });
    }
    /// The group of this source; null if there is none.
    TargetGroupPtr find(std::string_view source) const {
        return read([&](const TargetGroups& groups) { return groups.find(source); });
    }
    /// All groups, in no particular order.
    std::vector<TargetGroupPtr> groups() const {
        return read([](const TargetGroups& groups) {
            std::vector<TargetGroupPtr> all;
            all.reserve(groups.group_count());
            groups.for_each_group([&](const TargetGroupPtr& group) { all.push_back(group); });
            return all;
        });
    }

 private:
    friend detail::Provider;

    LiveTargets() = default;
    template <class Change>
    void write(const Change& change) {
        const std::lock_guard lock(mutex_);
        change(groups_);
    }

    mutable std::mutex mutex_;
    TargetGroups groups_;
};

}  // namespace k8s_sd::inline v0
