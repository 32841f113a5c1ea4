#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Decides how soon a list may follow, for any behavior of the server. Lists are the expensive
/// requests: hence their own limits beside those of RetryPacing. No I/O.
///
/// - A list in place of a watch waits for a pause since the previous one. The pause doubles up to
///   WatchOptions::backoff_max; it is skipped for the first such list, after a long watch, and
///   after five minutes.
/// - Forms of a list (see ListForms) follow within 8 s.
/// - One repetition of a list in another way is immediate, until a list is complete.
class ListPacing {
 public:
    /// The options must outlive this object.
    ListPacing(const WatchOptions& options, std::uint64_t seed)
        : options_(options), random_(seed) {}

    /// A list is complete.
    void on_list(TimePoint now) noexcept {
        last_list_ = now;
        repeated_at_once_ = false;
    }
    /// A watch was open for long (StreamRecord::long_life).
    void on_long_watch() noexcept {
        quick_list_ = false;
        pace_.reset();
        form_pace_.reset();
    }

    /// The pause before a list in place of a watch. Counts the list.
    Duration before_list(TimePoint now) {
        if (!last_list_ || now - *last_list_ >= long_ago) on_long_watch();
        if (!std::exchange(quick_list_, true)) return {};
        return pace_.next(options_.backoff_min, options_.backoff_max, random_);
    }
    /// The pause before the next form of a failed list.
    Duration before_form() {
        const Duration max = std::min(options_.backoff_max, form_max);
        return form_pace_.next(options_.backoff_min, max, random_);
    }
    /// Whether a list may be repeated in another way at once: the first time only.
    bool take_repetition() noexcept { return !std::exchange(repeated_at_once_, true); }
    /// The time until the next poll; not positive: now.
    Duration before_poll(TimePoint now) const {
        return last_list_ ? *last_list_ + options_.poll_interval - now : Duration{};
    }

    /// Whether the last list is old enough for another one to make up for failing watches.
    bool is_old(TimePoint now) const { return !last_list_ || now - *last_list_ >= a_while; }
    /// Whether a row of useless watches calls for a list: at its limit, and again whenever the last
    /// list is old.
    bool is_due(int in_a_row, int limit, TimePoint now) const {
        return in_a_row == limit || (in_a_row > limit && is_old(now));
    }

 private:
    // A pause is up to twice as long.
    static constexpr Duration form_max = std::chrono::seconds(4);
    static constexpr Duration a_while = std::chrono::minutes(1);
    static constexpr Duration long_ago = std::chrono::minutes(5);

    const WatchOptions& options_;
    Random random_;
    OptionalTime last_list_;
    Doublings pace_;           // between lists
    Doublings form_pace_;      // between the forms of a list
    bool quick_list_ = false;  // a list has followed another one soon
    bool repeated_at_once_ = false;
};

/// Decides the pause before a request is repeated, or a watch is reopened. All pauses have jitter:
/// clients that failed together must not return together. No I/O.
class RetryPacing {
 public:
    /// The options must outlive this object.
    RetryPacing(const WatchOptions& options, std::uint64_t seed)
        : options_(options), random_(seed) {}

    /// Resets the pauses after failures: requests work.
    void reset() noexcept { pace_.reset(); }
    /// A watch was open for a second (StreamRecord::Stream::lived()).
    void on_lived() noexcept { reopen_pace_.reset(); }
    /// A good response ends a row of refusals with Retry-After.
    void on_response() noexcept { refusals_ = 0; }

    /// The delay of the first request; nullopt: none.
    std::optional<Duration> at_start() {
        if (options_.start_jitter <= Duration{}) return std::nullopt;
        return uniform(options_.start_jitter);
    }
    /// The doubling pause after a failure.
    Duration after_failure() {
        return pace_.next(options_.backoff_min, options_.backoff_max, random_);
    }
    /// The same after a response timeout, if another request may succeed: the timeout already was a
    /// pause.
    Duration after_timeout() { return uniform(options_.backoff_min); }
    /// The pause before an extra request that is no retry.
    Duration short_pause() { return options_.backoff_min + uniform(options_.backoff_min); }
    /// Retry-After (RFC 9110, 10.2.3) takes precedence for a few refusals; then the backoff grows
    /// as well.
    Duration after_refusal(Duration retry_after) {
        const Duration asked = std::max(retry_after, options_.backoff_min);
        const Duration wait = asked + uniform(std::min(asked, options_.backoff_max));
        if (refusals_ == max_refusals) return std::max(wait, after_failure());
        ++refusals_;
        return wait;
    }
    /// The wait for a poll, up to a tenth longer.
    Duration before_poll(Duration wait) { return wait + uniform(wait / 10); }

    /// The pause before a watch is reopened after one that worked. It spreads reconnections after a
    /// server shutdown.
    /// \param in_time  the watch ended at its requested timeout
    Duration before_reopening(bool in_time) {
        const Duration pause = uniform(reopen_jitter);
        return in_time ? pause : pause + spread();
    }
    /// The doubling pause after a watch with an early end.
    Duration after_early_end() {
        const Duration max = std::min(options_.backoff_max, reopen_max);
        return reopen_pace_.next(options_.backoff_min, max, random_);
    }
    /// The same after a broken connection.
    Duration after_break() { return after_early_end() + spread(); }

 private:
    static constexpr std::uint8_t max_refusals = 10;
    static constexpr Duration reopen_jitter = std::chrono::milliseconds(100);
    static constexpr Duration reopen_max = std::chrono::seconds(5);
    static constexpr Duration max_spread = std::chrono::seconds(5);

    /// Clients with a start jitter also reconnect with one.
    Duration spread() { return uniform(std::min(options_.start_jitter, max_spread)); }
    Duration uniform(Duration limit) { return detail::uniform(limit, random_); }

    const WatchOptions& options_;
    Random random_;
    std::uint8_t refusals_ = 0;  // with Retry-After, in a row; at most max_refusals
    Doublings pace_;             // after failures
    Doublings reopen_pace_;      // between watches with events but an early end
};

/// Whether the server has lost the API of a watch (404), and how often to ask for it. An API may
/// come late, with the definition of its resource, or return. No I/O.
class ApiAbsence {
 public:
    /// \param custom  see KindSchema
    explicit ApiAbsence(std::uint64_t seed, bool custom = false) : random_(seed), custom_(custom) {}

    /// A watch or probe got a 404.
    /// \returns whether the API is really absent: a single 404 may come from a proxy
    bool on_absent() noexcept { return std::exchange(absent_, true); }
    /// The doubling pause before the next request, from 5 s to five minutes; for a custom kind to
    /// one minute.
    Duration pause() { return pace_.next(min, custom_ ? max_custom : max, random_); }
    /// The longest pause between two queries for the versions of the API: each request of a custom
    /// kind may lead to one.
    static constexpr Duration max_query_pause(bool custom) noexcept {
        return custom ? max_custom : 2 * max;
    }
    /// A watch works.
    void reset() noexcept {
        absent_ = false;
        pace_.reset();
    }

 private:
    // A pause is up to twice as long.
    static constexpr Duration min = std::chrono::seconds(5);
    static constexpr Duration max = std::chrono::seconds(150);
    static constexpr Duration max_custom = std::chrono::seconds(30);

    Random random_;
    bool absent_ = false;  // since a watch worked
    bool custom_;
    Doublings pace_;
};

}  // namespace k8s_sd::inline v0::detail
