#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Remembers a server's support for shardSelector (KEP-5866): it may refuse the parameter, or
/// ignore it. Entries expire after an hour, because the server may be upgraded. Thread-safe.
class ServerShards {
 public:
    /// A request succeeded only without the parameter.
    /// \returns whether this was unknown
    bool on_refused(TimePoint now) {
        const std::lock_guard lock(mutex_);
        const bool known = is_recent(refused_, now);
        refused_ = now;
        return !known;
    }
    /// An object outside the requested share has arrived.
    void on_ignored(TimePoint now) {
        const std::lock_guard lock(mutex_);
        ignored_ = now;
    }
    /// Whether to send the parameter.
    bool worth_trying(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return !is_recent(refused_, now);
    }
    /// Whether a request for a share returns more than the share.
    bool of_no_use(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return is_recent(refused_, now) || is_recent(ignored_, now);
    }

 private:
    static bool is_recent(const std::optional<TimePoint>& when, TimePoint now) {
        return when && now - *when < std::chrono::hours(1);
    }

    mutable std::mutex mutex_;
    std::optional<TimePoint> refused_, ignored_;
};

}  // namespace k8s_sd::inline v0::detail
