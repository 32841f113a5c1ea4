#pragma once

#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_groups.hpp"

#include <cstddef>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
class Provider;
}

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
