#pragma once

#include "k8s_sd/detail/client/bookmark_cadence.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace k8s_sd::inline v0::detail {

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
        silent_ = 0;
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
        for (int i = 1; i < std::min(silent_, max_doublings); ++i) timeout *= 2;
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
    std::optional<TimePoint> last_;
    bool ever_ = false;  // this URL has delivered a bookmark
    int silent_ = 0;     // silent watches in a row
};

}  // namespace k8s_sd::inline v0::detail
