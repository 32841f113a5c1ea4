#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// How long a watch may be silent. A server that sends bookmarks is dead when they stay away: the
/// patience is a multiple of the longest interval seen between two of them.
class BookmarkPatience {
 public:
    /// \param silence  what is allowed without bookmarks; zero: any
    void begin_watch(Duration silence) noexcept {
        silence_ = silence;
        last_.reset();
    }
    /// \returns whether something about the interval was learned
    bool on_bookmark(TimePoint now) noexcept {
        const std::optional<TimePoint> before = last_;
        last_ = now;
        if (!before) return false;
        longest_ = std::max(longest_.value_or(Duration{}), now - *before);
        return true;
    }
    /// The interval may have been misjudged.
    void forget() noexcept { longest_.reset(); }

    /// Zero: any silence.
    Duration allowed() const noexcept {
        if (!longest_) return silence_;
        const auto patience =
            std::max(std::chrono::duration_cast<Duration>(*longest_ * intervals), least);
        return silence_ <= Duration{} ? patience : std::min(silence_, patience);
    }

 private:
    static constexpr double intervals = 2.5;
    // Bookmarks that a proxy held back come together, and the last of a watch follows soon.
    static constexpr Duration least = std::chrono::seconds(90);

    Duration silence_{};
    std::optional<Duration> longest_;
    std::optional<TimePoint> last_;
};

}  // namespace k8s_sd::inline v0::detail
