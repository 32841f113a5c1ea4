#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// How fast lists come from a server, and whether it would be faster to have them compressed. An
/// API server compresses some 100 MB/s on one core, to about an eighth: through a network of
/// 16 MB/s a list takes an eighth of the time then, through one of 100 MB/s no less, and the
/// server works harder in both. So it is asked for far below that only, and where it was measured.
/// Thread-safe.
class TransferRate {
 public:
    /// A list has come that was not compressed.
    /// \param waited  for more of it, once it had begun: neither the time before nor our own
    void add(std::uint64_t bytes, Duration waited, TimePoint now) {
        // An API server compresses nothing that is smaller.
        constexpr std::uint64_t least = 128 * 1024;
        if (bytes < least) return;
        const std::lock_guard lock(mutex_);
        measured_ = now;
        slow_ =
            static_cast<double>(bytes) < threshold * std::chrono::duration<double>(waited).count();
    }
    /// What was measured long ago counts no more: the way to the server may be another one.
    bool is_slow(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return slow_ && measured_ && now - *measured_ < std::chrono::hours(1);
    }

 private:
    static constexpr double threshold = 16e6;  // bytes a second

    mutable std::mutex mutex_;
    std::optional<TimePoint> measured_;
    bool slow_ = false;
};

}  // namespace k8s_sd::inline v0::detail
