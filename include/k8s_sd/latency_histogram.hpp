#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace k8s_sd::inline v0 {

/// How long something took, as a histogram of Prometheus: how often it took at most so long. Cheap
/// to update; may be read and updated from any thread at any time.
class LatencyHistogram {
 public:
    /// Upper bounds of the buckets; one without bound comes behind them.
    static constexpr std::array<std::chrono::microseconds, 15> bounds = [] {
        using std::chrono::microseconds;
        return std::array{
            microseconds(1'000),      microseconds(2'500),      microseconds(5'000),
            microseconds(10'000),     microseconds(25'000),     microseconds(50'000),
            microseconds(100'000),    microseconds(250'000),    microseconds(500'000),
            microseconds(1'000'000),  microseconds(2'500'000),  microseconds(5'000'000),
            microseconds(10'000'000), microseconds(30'000'000), microseconds(60'000'000)};
    }();
    /// Numbers of observations: in each bucket alone, the one without bound last.
    using Counts = std::array<std::uint64_t, bounds.size() + 1>;

    /// Counts one observation.
    void observe(Duration latency) noexcept {
        const auto bucket = static_cast<std::size_t>(
            std::lower_bound(bounds.begin(), bounds.end(), latency) - bounds.begin());
        buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
        sum_.fetch_add(latency.count(), std::memory_order_relaxed);
    }
    /// The present numbers.
    Counts counts() const noexcept {
        Counts counts{};
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = buckets_[i].load(std::memory_order_relaxed);
        return counts;
    }
    /// Of all observations.
    Duration sum() const noexcept { return Duration(sum_.load(std::memory_order_relaxed)); }

 private:
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> buckets_{};
    std::atomic<Duration::rep> sum_{0};
};

}  // namespace k8s_sd::inline v0
