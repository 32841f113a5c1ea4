#pragma once

#include "k8s_sd/time.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

using k8s_sd::Duration;
using k8s_sd::TimePoint;

/// How a fleet scrapes its targets over a time.
struct Outcome {
    double max_gap = 0;         ///< seconds of a target without a scraper
    double gap_seconds = 0;     ///< total over all targets
    double double_seconds = 0;  ///< the same for surplus scrapers of a target
    double moved = 0;           ///< targets taken over by another member
};

/// Counts the scrapers of each target as assignments change.
class Tally {
 public:
    /// \param replicas  members that should scrape each target
    Tally(std::size_t targets, unsigned replicas) : replicas_(replicas), targets_(targets) {}

    void start(std::size_t target, TimePoint now);
    void stop(std::size_t target, TimePoint now);
    /// Resets the totals and keeps the current assignments.
    void begin(TimePoint now);
    /// The totals since begin().
    Outcome outcome(TimePoint now);
    /// Whether each target has exactly the required number of scrapers.
    bool is_even() const noexcept;

 private:
    struct Target {
        std::uint32_t members = 0;
        TimePoint changed;
    };
    /// Adds the time since the last change.
    void account(Target&, TimePoint now);

    const unsigned replicas_;
    std::vector<Target> targets_;
    TimePoint begun_;
    Outcome sum_;
};

}  // namespace bench
