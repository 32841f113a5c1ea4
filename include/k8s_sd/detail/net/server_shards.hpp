#pragma once

#include "k8s_sd/time.hpp"

#include <chrono>
#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// What a server has shown of shardSelector (KEP-5866): it may refuse the parameter, and it may
/// answer as if it was not there. An hour later it may be another version of the server.
/// Thread-safe.
class ServerShards {
 public:
    /// A request came through without the parameter, but not with it.
    /// \returns whether that is news
    bool on_refused(TimePoint now) {
        const std::lock_guard lock(mutex_);
        const bool known = is_recent(refused_, now);
        refused_ = now;
        return !known;
    }
    /// An object has come that is not in the share that was asked for.
    void on_ignored(TimePoint now) {
        const std::lock_guard lock(mutex_);
        ignored_ = now;
    }
    /// Whether to send the parameter.
    bool worth_trying(TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return !is_recent(refused_, now);
    }
    /// Whether a request for a share brings more than that share.
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
