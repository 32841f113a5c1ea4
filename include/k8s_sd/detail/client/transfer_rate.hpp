#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Measures the transfer rate of lists, to decide about compression. An API server compresses about
/// 100 MB/s per core, to an eighth of the size. A network of 16 MB/s then transfers a list in an
/// eighth of the time, one of 100 MB/s gains nothing, and the server's load rises in both cases. So
/// compression is requested only after a measurement far below 100 MB/s. Thread-safe.
class TransferRate {
 public:
    /// An uncompressed list is complete.
    /// \param waited  time spent waiting for its bytes after the first ones, without local
    /// processing
    void add(std::uint64_t bytes, Duration waited, TimePoint now) {
        // An API server does not compress smaller responses.
        constexpr std::uint64_t least = 128 * 1024;
        if (bytes < least) return;
        const std::lock_guard lock(mutex_);
        measured_ = now;
        slow_ =
            static_cast<double>(bytes) < threshold * std::chrono::duration<double>(waited).count();
    }
    /// Measurements expire, because the network path may change.
    bool is_slow(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return slow_ && measured_ && now - *measured_ < std::chrono::hours(1);
    }

 private:
    static constexpr double threshold = 16e6;  // bytes per second

    mutable std::mutex mutex_;
    std::optional<TimePoint> measured_;
    bool slow_ = false;
};

}  // namespace k8s_sd::inline v0::detail
