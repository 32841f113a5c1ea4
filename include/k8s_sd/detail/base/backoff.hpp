#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

namespace k8s_sd::inline v0::detail {

/// SplitMix64 (Steele, Lea, Flood 2014). Jitter needs no better generator, and each watch has two:
/// those of the standard library would take 2.5 KB each.
class Random {
 public:
    using result_type = std::uint64_t;

    /// Seeds are mixed, so that similar ones yield unrelated numbers.
    explicit Random(std::uint64_t seed) noexcept : state_(seed) { state_ = (*this)(); }
    static constexpr result_type min() noexcept { return 0; }
    static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
    result_type operator()() noexcept {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }

 private:
    std::uint64_t state_;
};

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

/// The end of a wait that begins at `start`, saturated at TimePoint::max().
constexpr TimePoint due_after(TimePoint start, Duration wait) noexcept {
    return wait > TimePoint::max() - start ? TimePoint::max() : start + wait;
}

}  // namespace k8s_sd::inline v0::detail
