#pragma once

#include "k8s_sd/scrape/scrape_target.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <vector>

namespace k8s_sd::inline v0::detail {

struct TargetHash {
    std::size_t operator()(const ScrapeTargetPtr& target) const noexcept { return target->hash(); }
};
struct SameTarget {
    bool operator()(const ScrapeTargetPtr& a, const ScrapeTargetPtr& b) const noexcept {
        return a == b || a->same_as(*b);
    }
};
using TargetSet = boost::unordered_flat_set<ScrapeTargetPtr, TargetHash, SameTarget>;

/// The targets that leave a pool and those that come, in one change.
struct TargetTransition {
    std::vector<ScrapeTargetPtr> leaving;
    std::vector<ScrapeTargetPtr> coming;
};

/// What a change means to a scraper; see TargetHandler.
struct TargetSteps {
    std::vector<ScrapeTargetPtr> stop;
    std::vector<ScrapeTargetPtr> keep;
    std::vector<ScrapeTargetPtr> start;
};

/// All targets of a pool. Groups can have targets in common: of equal ones one is active, the
/// others wait to take its place.
class EqualTargets {
 public:
    const TargetSet& active() const noexcept { return active_; }
    TargetSteps apply(const TargetTransition&);

 private:
    using Equals = boost::unordered_flat_set<const ScrapeTarget*>;

    void insert(const ScrapeTargetPtr&);
    void erase(const ScrapeTargetPtr&);

    TargetSet active_;
    boost::unordered_flat_map<ScrapeTargetPtr, Equals, TargetHash, SameTarget> equals_;
};

}  // namespace k8s_sd::inline v0::detail
