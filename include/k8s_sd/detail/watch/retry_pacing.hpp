#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Decides the pause before a request is repeated, or a watch is reopened. All pauses have jitter:
/// clients that failed together must not return together. No I/O.
class RetryPacing {
 public:
    RetryPacing(const WatchOptions& options, std::uint64_t seed, std::uint64_t reopen_seed)
        : backoff_min_(options.backoff_min),
          backoff_max_(options.backoff_max),
          start_jitter_(options.start_jitter),
          pace_(options.backoff_min, options.backoff_max, seed),
          reopen_pace_(options.backoff_min, std::min(options.backoff_max, reopen_max),
                       reopen_seed) {}

    /// Resets the pauses after failures: requests work.
    void reset() noexcept { pace_.reset(); }
    /// A watch was open for a second (StreamRecord::Stream::lived()).
    void on_lived() noexcept { reopen_pace_.reset(); }
    /// A good response ends a row of refusals with Retry-After.
    void on_response() noexcept { refusals_ = 0; }

    /// The delay of the first request; nullopt: none.
    std::optional<Duration> at_start() {
        if (start_jitter_ <= Duration{}) return std::nullopt;
        return pace_.uniform(start_jitter_);
    }
    /// The doubling pause after a failure.
    Duration after_failure() { return pace_.next(); }
    /// The same after a response timeout, if another request may succeed: the timeout already was a
    /// pause.
    Duration after_timeout() { return pace_.uniform(backoff_min_); }
    /// The pause before an extra request that is no retry.
    Duration short_pause() { return backoff_min_ + pace_.uniform(backoff_min_); }
    /// Retry-After (RFC 9110, 10.2.3) takes precedence for a few refusals; then the backoff grows
    /// as well.
    Duration after_refusal(Duration retry_after) {
        const Duration asked = std::max(retry_after, backoff_min_);
        const Duration wait = asked + pace_.uniform(std::min(asked, backoff_max_));
        return ++refusals_ <= max_refusals ? wait : std::max(wait, pace_.next());
    }
    /// The wait for a poll, up to a tenth longer.
    Duration before_poll(Duration wait) { return wait + pace_.uniform(wait / 10); }

    /// The pause before a watch is reopened after one that worked. It spreads reconnections after a
    /// server shutdown.
    /// \param in_time  the watch ended at its requested timeout
    Duration before_reopening(bool in_time) {
        const Duration pause = pace_.uniform(reopen_jitter);
        return in_time ? pause : pause + spread();
    }
    /// The doubling pause after a watch with an early end.
    Duration after_early_end() { return reopen_pace_.next(); }
    /// The same after a broken connection.
    Duration after_break() { return reopen_pace_.next() + spread(); }

 private:
    static constexpr int max_refusals = 10;
    static constexpr Duration reopen_jitter = std::chrono::milliseconds(100);
    static constexpr Duration reopen_max = std::chrono::seconds(5);
    static constexpr Duration max_spread = std::chrono::seconds(5);

    /// Clients with a start jitter also reconnect with one.
    Duration spread() { return pace_.uniform(std::min(start_jitter_, max_spread)); }

    Duration backoff_min_;
    Duration backoff_max_;
    Duration start_jitter_;
    Backoff pace_;         // after failures
    Backoff reopen_pace_;  // between watches with events but an early end
    int refusals_ = 0;     // with Retry-After, in a row
};

}  // namespace k8s_sd::inline v0::detail
