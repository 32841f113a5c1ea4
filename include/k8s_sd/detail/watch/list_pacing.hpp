#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
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
    ListPacing(const WatchOptions& options, std::uint64_t seed, std::uint64_t form_seed)
        : poll_interval_(options.poll_interval),
          pace_(options.backoff_min, options.backoff_max, seed),
          form_pace_(options.backoff_min, std::min(options.backoff_max, form_max), form_seed) {}

    /// A list is complete.
    void on_list(TimePoint now) noexcept {
        last_list_ = now;
        repeated_at_once_ = false;
    }
    /// A watch was open for long (StreamRecord::long_life).
    void on_long_watch() noexcept {
        quick_lists_ = 0;
        pace_.reset();
        form_pace_.reset();
    }

    /// The pause before a list in place of a watch. Counts the list.
    Duration before_list(TimePoint now) {
        if (!last_list_ || now - *last_list_ >= long_ago) on_long_watch();
        return quick_lists_++ == 0 ? Duration{} : pace_.next();
    }
    /// The pause before the next form of a failed list.
    Duration before_form() { return form_pace_.next(); }
    /// Whether a list may be repeated in another way at once: the first time only.
    bool take_repetition() noexcept { return !std::exchange(repeated_at_once_, true); }
    /// The time until the next poll; not positive: now.
    Duration before_poll(TimePoint now) const {
        return last_list_ ? *last_list_ + poll_interval_ - now : Duration{};
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

    Duration poll_interval_;
    Backoff pace_;       // between lists
    Backoff form_pace_;  // between the forms of a list
    std::optional<TimePoint> last_list_;
    int quick_lists_ = 0;
    bool repeated_at_once_ = false;
};

}  // namespace k8s_sd::inline v0::detail
