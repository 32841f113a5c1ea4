#pragma once

#include "k8s_sd/time.hpp"

#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// The pause of a server that has complained with ENHANCE_YOUR_CALM: no request by HTTP/2 for 30 s,
/// then one after the other for as long, because all at once would provoke it again. Shared by all
/// clients of the server, whatever their credentials. Thread-safe.
class Http2Pause {
 public:
    /// The end of the pause after which the owner may send; empty: none.
    using Turn = std::optional<TimePoint>;

    /// The server demands a pause, from now on: a present one lasts longer.
    void demand(TimePoint now);
    bool is_on(TimePoint now) const;
    /// The time for a request, later for each call. Empty: now.
    /// \param turn  from an earlier call: after its pause the owner need not wait again. Changed.
    std::optional<TimePoint> next(TimePoint now, Turn& turn);

 private:
    mutable std::mutex mutex_;
    std::optional<TimePoint> end_;  ///< empty: no pause so far
    TimePoint next_{};              ///< the first free time for a request
};

}  // namespace k8s_sd::inline v0::detail
