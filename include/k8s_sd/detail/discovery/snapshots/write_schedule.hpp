#pragma once

#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Decides when a snapshot is written. Without a change it is rewritten as well, before the file
/// expires. No I/O.
class WriteSchedule {
 public:
    /// \param interval  between two writes of changes
    WriteSchedule(Duration interval, Duration max_age, std::uint64_t seed)
        : interval_(interval), max_age_(max_age), jitter_(Duration(1), Duration(1), seed) {}

    void on_change() noexcept { changed_ = true; }
    bool has_changes() const noexcept { return changed_; }
    bool writing() const noexcept { return writing_; }

    /// The pause before the next write, drawn anew; nullopt: a write of changes is due, or one is
    /// running.
    std::optional<Duration> next_pause() {
        if (waits_ || writing_) return std::nullopt;
        waits_ = changed_;
        const Duration interval = changed_ ? interval_ : std::max(interval_, max_age_ / 4);
        return interval + jitter_.uniform(interval / 2);
    }
    /// The pause is over.
    void on_due() noexcept { waits_ = false; }
    void begin_write() noexcept {
        changed_ = false;
        writing_ = true;
    }
    void end_write(bool written) noexcept {
        writing_ = false;
        changed_ = changed_ || !written;
    }

 private:
    const Duration interval_;
    const Duration max_age_;
    Backoff jitter_;
    bool waits_ = false;  ///< a write of changes is due
    bool writing_ = false;
    bool changed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
