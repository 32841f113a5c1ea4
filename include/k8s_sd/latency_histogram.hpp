#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace k8s_sd::inline v0 {

/// A histogram of durations with fixed buckets, as for Prometheus. Cheap to update; may be read and
/// updated from any thread at any time.
class LatencyHistogram {
 public:
    /// Upper bounds of the buckets; one more bucket has no bound.
    static constexpr std::array<std::chrono::microseconds, 15> bounds = [] {
        using std::chrono::microseconds;
        return std::array{
            microseconds(1'000),      microseconds(2'500),      microseconds(5'000),
            microseconds(10'000),     microseconds(25'000),     microseconds(50'000),
            microseconds(100'000),    microseconds(250'000),    microseconds(500'000),
            microseconds(1'000'000),  microseconds(2'500'000),  microseconds(5'000'000),
            microseconds(10'000'000), microseconds(30'000'000), microseconds(60'000'000)};
    }();
    /// Number of observations in each bucket (not cumulative), the one without bound last.
    using Counts = std::array<std::uint64_t, bounds.size() + 1>;

    /// Counts one observation.
    void observe(Duration latency) noexcept {
        const auto bucket = static_cast<std::size_t>(
            std::lower_bound(bounds.begin(), bounds.end(), latency) - bounds.begin());
        buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
        sum_.fetch_add(latency.count(), std::memory_order_relaxed);
    }
    /// The current counts.
    Counts counts() const noexcept {
        Counts counts{};
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = buckets_[i].load(std::memory_order_relaxed);
        return counts;
    }
    /// Sum of all observations.
    Duration sum() const noexcept { return Duration(sum_.load(std::memory_order_relaxed)); }

 private:
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> buckets_{};
    std::atomic<Duration::rep> sum_{0};
};

}  // namespace k8s_sd::inline v0
