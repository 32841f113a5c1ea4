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

/// A random duration of at most `limit`.
inline Duration uniform(Duration limit, Random& random) {
    return Duration(std::uniform_int_distribution<Duration::rep>(
        0, std::max<Duration::rep>(limit.count(), 0))(random));
}

/// Exponential delays with jitter: each is drawn from [d, 2d], and d doubles up to the maximum.
/// Jitter only lengthens a delay, also at the maximum, and keeps clients from retrying in lockstep.
/// Takes one byte, because each watch has several: its owner knows the rest.
class Doublings {
 public:
    Duration next(Duration min, Duration max, Random& random) {
        Duration base = std::min(min, max);
        for (int i = 0; i < count_ && base < max; ++i) base = base > max / 2 ? max : base * 2;
        if (base < max && count_ < max_count) ++count_;
        return base + uniform(base, random);
    }
    void reset() noexcept { count_ = 0; }

 private:
    static constexpr std::uint8_t max_count = 63;  // more than a Duration can double

    std::uint8_t count_ = 0;
};

/// Such delays of one minimum and maximum.
class Backoff {
 public:
    Backoff(Duration min, Duration max, std::uint64_t seed) : min_(min), max_(max), random_(seed) {}

    Duration next() { return doublings_.next(min_, max_, random_); }
    void reset() noexcept { doublings_.reset(); }
    /// A random duration of at most `limit`.
    Duration uniform(Duration limit) { return detail::uniform(limit, random_); }

 private:
    Duration min_;
    Duration max_;
    Random random_;
    Doublings doublings_;
};

/// The end of a wait that begins at `start`, saturated at TimePoint::max().
constexpr TimePoint due_after(TimePoint start, Duration wait) noexcept {
    return wait > TimePoint::max() - start ? TimePoint::max() : start + wait;
}

}  // namespace k8s_sd::inline v0::detail
