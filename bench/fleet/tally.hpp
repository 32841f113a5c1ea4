#pragma once

#include "k8s_sd/time.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

using k8s_sd::Duration;
using k8s_sd::TimePoint;

/// What a fleet does with its targets over a time.
struct Outcome {
    double max_gap = 0;         ///< seconds that a target has had nobody
    double gap_seconds = 0;     ///< of all targets together
    double double_seconds = 0;  ///< the same of members more than there should be
    double moved = 0;           ///< targets that somebody has begun with
};

/// Counts who scrapes what, as it happens.
class Tally {
 public:
    /// \param replicas  members that should scrape each target
    Tally(std::size_t targets, unsigned replicas) : replicas_(replicas), targets_(targets) {}

    void start(std::size_t target, TimePoint now);
    void stop(std::size_t target, TimePoint now);
    /// Forgets what has been; what is there stays.
    void begin(TimePoint now);
    /// What has been since begin().
    Outcome outcome(TimePoint now);
    /// Whether each target has as many as it should have, and no more.
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
