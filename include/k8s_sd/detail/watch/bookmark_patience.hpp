#pragma once

#include "k8s_sd/detail/net/bookmark_cadence.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// How long a watch may be silent. A server that sends bookmarks is dead when they stay away: the
/// patience is a multiple of their usual interval. Not every URL of a server has bookmarks, so
/// this one must have brought one.
class BookmarkPatience {
 public:
    explicit BookmarkPatience(BookmarkCadence& cadence) : cadence_(&cadence) {}

    /// \param silence  what is allowed without bookmarks; zero: any
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
    /// The watch was silent for longer than it may be. From the second time in a row on the
    /// patience doubles: the server may have changed its ways.
    void on_silence() noexcept { ++silent_; }

    /// Zero: any silence.
    Duration allowed() const {
        const auto interval = ever_ ? cadence_->interval() : std::nullopt;
        if (!interval) return silence_;
        Duration patience =
            std::max(std::chrono::duration_cast<Duration>(*interval * intervals), least);
        for (int i = 1; i < std::min(silent_, max_doublings); ++i) patience *= 2;
        return silence_ <= Duration{} ? patience : std::min(silence_, patience);
    }
    /// Of a watch that may be one of another past.
    Duration allowed_if_suspect() const {
        const Duration usual = allowed();
        return usual <= Duration{} ? least : std::min(usual, least);
    }

 private:
    static constexpr double intervals = 2.5;
    static constexpr int max_doublings = 6;
    // Bookmarks that a proxy held back come together, and the last of a watch follows soon.
    static constexpr Duration least = std::chrono::seconds(90);

    BookmarkCadence* cadence_;
    Duration silence_{};
    std::optional<TimePoint> last_;
    bool ever_ = false;  // this URL has brought a bookmark
    int silent_ = 0;     // watches in a row
};

}  // namespace k8s_sd::inline v0::detail
