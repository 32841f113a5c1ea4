#include "k8s_sd/detail/transport/http2/http2_pause.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration calm_pause = std::chrono::seconds(30);
/// Afterwards requests follow at this interval, for this time.
constexpr Duration calm_interval = std::chrono::milliseconds(10);
constexpr Duration calm_queue = std::chrono::seconds(30);
/// Further requests share the times of others.
constexpr Duration max_calm_wait = std::chrono::seconds(10);
/// A request that is later than this has lost its time.
constexpr Duration calm_tolerance = std::chrono::milliseconds(100);

}  // namespace

void Http2Pause::demand(TimePoint now) {
    const std::lock_guard lock(mutex_);
    end_ = now + calm_pause;
    next_ = std::max(next_, *end_);
}

bool Http2Pause::is_on(TimePoint now) const {
    const std::lock_guard lock(mutex_);
    return end_ && now < *end_;
}

std::optional<TimePoint> Http2Pause::next(TimePoint now, Slot& slot) {
    const std::lock_guard lock(mutex_);
    if (!end_ || now >= *end_ + calm_queue) return std::nullopt;
    const bool has_time = slot.at && *slot.at >= *end_;
    if (!has_time || (!slot.used && now >= *slot.at + calm_tolerance)) {
        const TimePoint first = std::max(*end_, now);
        if (next_ < first || next_ >= first + max_calm_wait) next_ = first;
        slot = {std::exchange(next_, next_ + calm_interval), false};
    }
    if (*slot.at > now) return slot.at;
    slot.used = true;
    return std::nullopt;
}

}  // namespace k8s_sd::inline v0::detail
