#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Bounds the RST_STREAM frames that a connection sends in any second. Servers take many of them
/// for an attack (CVE-2023-44487) and end the connection with all its streams.
class ResetPacing {
 public:
    static constexpr int resets_per_second = 100;

    /// \returns whether the stream may be reset now; false: it waits until take() returns it
    bool admit(std::int32_t stream, TimePoint now) noexcept try {
        if (waiting_.empty() && has_budget(now)) return true;
        waiting_.push_back(stream);
        return false;
    } catch (const std::bad_alloc&) {
        return true;  // there is no memory for a stream that waits
    }
    /// A waiting stream that may be reset now, in the order of admit().
    /// \param is_open  whether a stream still needs a reset; those that do not are dropped
    template <class IsOpen>
    std::optional<std::int32_t> take(TimePoint now, const IsOpen& is_open) {
        while (!waiting_.empty() && !is_open(waiting_.front())) waiting_.pop_front();
        if (waiting_.empty() || !has_budget(now)) return std::nullopt;
        const std::int32_t stream = waiting_.front();
        waiting_.pop_front();
        return stream;
    }
    /// The time for the next take(); TimePoint::max(): no stream waits.
    TimePoint next_due() const noexcept {
        return waiting_.empty() ? TimePoint::max() : *last_[next_] + period;
    }

 private:
    static constexpr Duration period = std::chrono::seconds(1);

    bool has_budget(TimePoint now) noexcept {
        OptionalTime& oldest = last_[next_];
        if (oldest && now - *oldest < period) return false;
        oldest = now;
        next_ = (next_ + 1) % last_.size();
        return true;
    }

    std::deque<std::int32_t> waiting_;
    std::array<OptionalTime, resets_per_second> last_;  ///< the times of the last resets
    std::size_t next_ = 0;                              ///< the oldest of them
};

}  // namespace k8s_sd::inline v0::detail
