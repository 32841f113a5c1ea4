#pragma once

#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <map>
#include <mutex>

namespace k8s_sd::inline v0::detail {

/// Which resources a server does not list as the first events of a watch (KEP-3157): there a LIST
/// has come through where such a watch did not. A day later it may be another version of the
/// server. Thread-safe.
class StreamedLists {
 public:
    void on_failure(Kind kind, TimePoint now) {
        const std::lock_guard lock(mutex_);
        failed_[kind] = now;
    }
    bool worth_trying(Kind kind, TimePoint now) const {
        const std::lock_guard lock(mutex_);
        const auto failed = failed_.find(kind);
        return failed == failed_.end() || now - failed->second >= a_day;
    }

 private:
    static constexpr Duration a_day = std::chrono::hours(24);

    mutable std::mutex mutex_;
    std::map<Kind, TimePoint> failed_;
};

}  // namespace k8s_sd::inline v0::detail
