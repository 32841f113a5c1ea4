#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/detail/base/small_count.hpp"
#include "k8s_sd/detail/client/server_memory.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

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
        return std::min({last_ + quiet_, began_ + base + objects_ * for_each, began_ + max_time});
    }

 private:
    // An API server checks every second whether the list is complete.
    static constexpr Duration hasty_quiet = std::chrono::seconds(10);
    static constexpr Duration max_quiet = std::chrono::seconds(30);
    static constexpr Duration base = std::chrono::seconds(30);
    static constexpr Duration for_each = std::chrono::milliseconds(100);
    static constexpr Duration max_time = std::chrono::minutes(10);

    Duration response_timeout_;
    Duration quiet_ = hasty_quiet;
    TimePoint began_{};
    TimePoint last_{};
    int objects_ = 0;
    bool changed_ = false;
};

/// Idle timeout of a watch. A server known to send bookmarks is dead once they stay away, so the
/// timeout is a multiple of their usual interval. Not every URL of a server has bookmarks: the
/// multiple applies only after this URL has delivered one.
class WatchIdleTimeout {
 public:
    explicit WatchIdleTimeout(BookmarkCadence& cadence) : cadence_(&cadence) {}

    /// \param silence  the silence allowed without bookmarks; zero: unlimited
    void begin_watch(Duration silence) noexcept {
        silence_ = silence;
        last_.reset();
    }
    void on_bookmark(TimePoint now) {
        if (last_) cadence_->add(now - *last_);
        last_ = now;
        ever_ = true;
        silent_.reset();
    }
    /// The watch exceeded its idle timeout. From the second time in a row the timeout doubles: the
    /// server may have changed its bookmark interval.
    void on_silence() noexcept { ++silent_; }

    /// \returns the idle timeout; zero: none
    Duration allowed() const {
        const auto interval = ever_ ? cadence_->interval() : std::nullopt;
        if (!interval) return silence_;
        Duration timeout =
            std::max(std::chrono::duration_cast<Duration>(*interval * intervals), min_timeout);
        for (int i = 1; i < std::min<int>(silent_, max_doublings); ++i) timeout *= 2;
        return silence_ <= Duration{} ? timeout : std::min(silence_, timeout);
    }
    /// Idle timeout of a watch on a server that may have been restored to an older state.
    Duration allowed_if_suspect() const {
        const Duration usual = allowed();
        return usual <= Duration{} ? min_timeout : std::min(usual, min_timeout);
    }

 private:
    static constexpr double intervals = 2.5;
    static constexpr int max_doublings = 6;
    // A proxy may deliver held-back bookmarks in a burst, and a watch may end soon after its last
    // one.
    static constexpr Duration min_timeout = std::chrono::seconds(90);

    BookmarkCadence* cadence_;
    Duration silence_{};
    OptionalTime last_;
    bool ever_ = false;  // this URL has delivered a bookmark
    SmallCount silent_;  // silent watches in a row
};

}  // namespace k8s_sd::inline v0::detail
