#include "k8s_sd/detail/scrape/equal_targets.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

/// Those that come are entered before the others are struck out, so what is in both goes on.
TargetSteps EqualTargets::apply(const TargetTransition& transition) {
    TargetSteps steps;
    for (const ScrapeTargetPtr& target : transition.coming) {
        if (!active_.contains(target)) steps.start.push_back(target);
        insert(target);
    }
    for (const ScrapeTargetPtr& target : transition.leaving) erase(target);
    TargetSet seen;
    for (const ScrapeTargetPtr& target : transition.leaving) {
        if (!seen.insert(target).second) continue;
        const auto left = active_.find(target);
        if (left == active_.end()) {
            steps.stop.push_back(target);
        } else if (!(*left)->same_discovered(*target)) {
            steps.keep.push_back(*left);
        }
    }
    return steps;
}

void EqualTargets::insert(const ScrapeTargetPtr& target) {
    const bool is_first = active_.insert(target).second;
    if (!is_first) equals_[target].insert(target.get());
}

void EqualTargets::erase(const ScrapeTargetPtr& target) {
    const auto equals = equals_.find(target);
    if (equals == equals_.end()) {
        active_.erase(target);
        return;
    }
    Equals& others = equals->second;
    const auto active = active_.find(target);
    if (*active == target) {
        const ScrapeTargetPtr next = *others.begin();
        others.erase(others.begin());
        active_.erase(active);
        active_.insert(next);
    } else {
        others.erase(target.get());
    }
    if (others.empty()) {
        equals_.erase(equals);
    } else if (equals->first == target) {
        // Any of the equal ones can be the key, as long as it is there.
        Equals moved = std::move(others);
        const ScrapeTargetPtr key = *moved.begin();
        equals_.erase(equals);
        equals_.emplace(key, std::move(moved));
    }
}

}  // namespace k8s_sd::inline v0::detail
