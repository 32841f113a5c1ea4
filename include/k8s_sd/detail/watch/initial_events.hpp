#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>

namespace k8s_sd::inline v0::detail {

/// Time limits for the list at the start of a streamed watch. A server without watch-lists sends
/// its objects, or nothing, then perhaps changes, but never the bookmark at the end of the list.
/// LIST works better there, so the limits are tight: a limit on silence, and half a minute in total
/// plus a little for each object. The silence distinguishes the two cases: new objects arrive one
/// by one, objects of a list in a row.
class InitialEventsTimeout {
 public:
    explicit InitialEventsTimeout(const WatchOptions& options)
        : response_timeout_(options.response_timeout) {}

    /// The response head has arrived.
    /// \param hasty  another form of the list may be faster
    void begin(TimePoint now, bool hasty = true) noexcept {
        quiet_ = hasty ? hasty_quiet : max_quiet;
        if (response_timeout_ > Duration{}) quiet_ = std::min(quiet_, response_timeout_);
        began_ = last_ = now;
        objects_ = 0;
        changed_ = false;
    }
    /// An object has arrived. Before the first change it belongs to the list; later it may be new.
    void on_object(TimePoint now) noexcept {
        if (changed_) return;
        last_ = now;
        ++objects_;
    }
    /// An object was modified or deleted. The server sent the whole list before; the bookmark
    /// follows as soon as the server knows its cache to be up to date.
    void on_change(TimePoint now) noexcept {
        on_object(now);
        changed_ = true;
    }
    /// The host kept the executor busy for this time, so nothing was read.
    void on_blocked(Duration time) noexcept {
        began_ += time;
        last_ += time;
    }
    /// Deadline for the next object or the end of the list.
    TimePoint deadline() const noexcept {
        return std::min({last_ + quiet_, began_ + base + objects_ * for_each, began_ + longest});
    }

 private:
    // An API server checks every second whether the list is complete.
    static constexpr Duration hasty_quiet = std::chrono::seconds(10);
    static constexpr Duration max_quiet = std::chrono::seconds(30);
    static constexpr Duration base = std::chrono::seconds(30);
    static constexpr Duration for_each = std::chrono::milliseconds(100);
    static constexpr Duration longest = std::chrono::minutes(10);

    Duration response_timeout_;
    Duration quiet_ = hasty_quiet;
    TimePoint began_{};
    TimePoint last_{};
    int objects_ = 0;
    bool changed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
