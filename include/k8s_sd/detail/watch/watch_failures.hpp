#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/detail/base/small_count.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Failed watches in a row, by kind of failure. Decides when they fail too often: then a list has
/// to make up for their events. No I/O.
class WatchFailures {
 public:
    static constexpr int max_malformed = 3;  ///< malformed watches at one version

    /// A watch failed.
    /// \param counts  the failure counts towards the limit. A busy server's does not; only its
    ///                duration does
    void on_failure(bool counts, TimePoint now) noexcept {
        if (counts) ++failures_;
        if (!since_) since_ = now;
    }
    /// Ends the row: a watch has proven to work, or the server itself fails, so its failed watches
    /// prove nothing.
    void forget() noexcept {
        failures_.reset();
        since_.reset();
    }
    /// Whether a counted failure has occurred since the last forget().
    bool any() const noexcept { return failures_ > 0; }
    /// Whether watches have failed five times, or for two minutes.
    bool too_often(TimePoint now) const noexcept {
        return failures_ >= max_failures || (since_ && now - *since_ >= too_long);
    }

    /// A watch delivered bytes other than events.
    /// \returns the number of such watches since the last new version
    int on_malformed() noexcept { return ++malformed_; }
    /// An ended watch had delivered a new version.
    void on_news() noexcept { malformed_.reset(); }

    /// The server rejects the request of a watch (400, 422).
    /// \returns whether it did so before: the version was not the cause
    bool on_rejection() noexcept { return std::exchange(rejected_, true); }
    /// The server denies a watch to this client (403, 405).
    /// \returns whether it did so before: polling replaces watches
    bool on_denial() noexcept { return std::exchange(denied_, true); }
    /// Whether lists are proven to be allowed: no watch has worked since the last one.
    bool lists_are_allowed() const noexcept { return !watched_since_list_; }

    /// The head of a watch response has arrived.
    void on_watching() noexcept {
        rejected_ = denied_ = false;
        watched_since_list_ = true;
    }
    /// A list is complete.
    void on_list() noexcept { watched_since_list_ = false; }

 private:
    static constexpr int max_failures = 5;
    static constexpr Duration too_long = std::chrono::minutes(2);

    OptionalTime since_;
    SmallCount failures_;
    SmallCount malformed_;
    bool rejected_ = false;
    bool denied_ = false;
    bool watched_since_list_ = false;
};

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
