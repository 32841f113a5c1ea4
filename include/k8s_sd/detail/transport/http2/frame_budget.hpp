#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>

namespace k8s_sd::inline v0::detail {

/// Limits the frames without content: each costs time, and some require an answer. Floods of
/// SETTINGS, PING, empty DATA or CONTINUATION exceed it; no useful server does.
class FrameBudget {
 public:
    static constexpr int frames_per_second = 10'000;

    /// \returns whether the frame may be processed
    bool on_frame(TimePoint now) {
        if (now - since_ >= std::chrono::seconds(1)) {
            since_ = now;
            left_ = frames_per_second;
        }
        return --left_ >= 0;
    }
    /// A response has begun or goes on.
    void on_content() noexcept { left_ = frames_per_second; }

 private:
    TimePoint since_{};
    int left_ = frames_per_second;
};

}  // namespace k8s_sd::inline v0::detail
