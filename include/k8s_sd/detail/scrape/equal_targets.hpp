#pragma once

#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/stop_reason.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <utility>
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

/// The targets removed from a pool and added to it in one change.
struct TargetTransition {
    struct Leaving {
        ScrapeTargetPtr target;
        StopReason reason;
    };
    std::vector<Leaving> leaving;
    std::vector<ScrapeTargetPtr> coming;
};

/// The effects of a change on a scraper; see TargetHandler.
struct TargetSteps {
    struct Step {
        TargetId id;
        ScrapeTargetPtr target;
    };
    struct Stop : Step {
        StopReason reason;
    };
    std::vector<Stop> stop;
    std::vector<Step> keep;
    std::vector<Step> start;
};

/// All targets of a pool. Groups may contain equal targets: one of them is active and has an ID,
/// the others wait in a ring to replace it.
class EqualTargets {
 public:
    const TargetSet& active() const noexcept { return active_; }

    /// Allocates memory for a transition, so apply() does not throw.
    TargetSteps prepare(std::size_t leaving, std::size_t coming);
    /// \param steps  from prepare(), for at least as many targets
    void apply(const TargetTransition&, TargetSteps& steps) noexcept;

 private:
    using Step = TargetSteps::Step;

    void insert(const ScrapeTargetPtr&, TargetSteps&) noexcept;
    void erase(const TargetTransition::Leaving&, TargetSteps&) noexcept;
    void report_displaced(TargetSteps&, TargetId last_known) const noexcept;
    void correct_started(TargetSteps&) const noexcept;

    TargetSet active_;
    TargetId last_id_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
