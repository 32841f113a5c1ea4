#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/time.hpp"

#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// The pause of a server that has complained with ENHANCE_YOUR_CALM: no request by HTTP/2 for 30 s,
/// then for 30 s more one after the other, because all at once would provoke it again. Shared by
/// all clients of the server, whatever their credentials. Thread-safe.
class K8S_SD_EXPORT Http2Pause {
 public:
    /// The time at which the owner may send; empty: it has none.
    struct Slot {
        OptionalTime at{};
        bool used = false;  ///< the owner has sent; then it may send at any later time
    };

    /// The server demands a pause, from now on: a present one lasts longer.
    void demand(TimePoint now);
    bool is_on(TimePoint now) const;
    /// The time for a request, later for each call. Empty: now.
    /// \param slot  from an earlier call. Changed. If the owner comes late, because it has waited
    ///              for credentials, for example, it gets another one: others are late with it.
    std::optional<TimePoint> next(TimePoint now, Slot& slot);

 private:
    mutable std::mutex mutex_;
    std::optional<TimePoint> end_;  ///< empty: no pause so far
    TimePoint next_{};              ///< the first free time for a request
};

}  // namespace k8s_sd::inline v0::detail
