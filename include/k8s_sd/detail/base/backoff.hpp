#pragma once

#include "k8s_sd/detail/base/random.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <cstdint>
#include <random>

namespace k8s_sd::inline v0::detail {

/// Exponential delays with jitter: each is drawn from [d, 2d], and d doubles up to the maximum.
/// Jitter only lengthens a delay, also at the maximum, and keeps clients from retrying in lockstep.
class Backoff {
 public:
    Backoff(Duration min, Duration max, std::uint64_t seed)
        : min_(std::min(min, max)), max_(max), next_(min_), random_(seed) {}

    Duration next() {
        const Duration base = next_;
        next_ = std::min(next_ * 2, max_);
        return base + uniform(base);
    }
    void reset() noexcept { next_ = min_; }
    /// A random duration of at most `limit`.
    Duration uniform(Duration limit) {
        return Duration(std::uniform_int_distribution<Duration::rep>(
            0, std::max<Duration::rep>(limit.count(), 0))(random_));
    }

 private:
    Duration min_;
    Duration max_;
    Duration next_;
    Random random_;
};

}  // namespace k8s_sd::inline v0::detail
