#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>

namespace k8s_sd::inline v0::detail {

/// When the watches of a URL last made progress: by a list, a new version, or an end at their
/// timeout. Without progress for a quarter of an hour, events may have been lost. A server may have
/// no events for hours, but then its watches end at their timeouts. No I/O.
class WatchProgress {
 public:
    void on_progress(TimePoint now) noexcept { last_ = now; }
    void on_bookmark() noexcept { has_bookmarks_ = true; }
    /// Whether no watch has made progress recently.
    bool is_missing(TimePoint now) const noexcept { return now - last_ >= max_pause; }
    /// Progress is missing although the last watch was open for long: a proxy may close idle
    /// connections, or answer in place of the server. A new period begins.
    /// \returns whether this calls for a list: the server has sent bookmarks before
    bool on_quiet(TimePoint now) noexcept {
        last_ = now;
        return has_bookmarks_;
    }

 private:
    static constexpr Duration max_pause = std::chrono::minutes(15);

    TimePoint last_{};
    bool has_bookmarks_ = false;  // ever
};

}  // namespace k8s_sd::inline v0::detail
