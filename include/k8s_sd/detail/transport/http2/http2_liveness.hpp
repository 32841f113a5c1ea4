#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Decides when a connection needs a PING, and when it is dead. Any received byte proves that it is
/// alive, not only the answer to a PING.
class Http2Liveness {
 public:
    static constexpr Duration max_silence = std::chrono::seconds(30);  ///< as client-go
    static constexpr Duration max_answer_time = std::chrono::seconds(15);
    /// Some servers close a connection with more frequent PINGs.
    static constexpr Duration min_ping_interval = std::chrono::seconds(10);

    enum class Step { wait, ping, dead };

    explicit Http2Liveness(TimePoint now) : heard_at_(now) {}

    void on_bytes(TimePoint now) noexcept {
        heard_at_ = now;
        waiting_ = false;
    }
    /// To be called at next_check().
    Step check(TimePoint now) noexcept {
        if (now < next_check()) return Step::wait;
        if (waiting_) return Step::dead;
        waiting_ = true;
        pinged_at_ = now;
        return Step::ping;
    }
    TimePoint next_check() const noexcept {
        if (waiting_) return *pinged_at_ + max_answer_time;
        const TimePoint due = heard_at_ + max_silence;
        return pinged_at_ ? std::max(due, *pinged_at_ + min_ping_interval) : due;
    }

 private:
    TimePoint heard_at_;
    std::optional<TimePoint> pinged_at_;
    bool waiting_ = false;  ///< for an answer to the PING
};

}  // namespace k8s_sd::inline v0::detail
