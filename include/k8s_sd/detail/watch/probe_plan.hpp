#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/detail/base/small_count.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The probes of a watch: LISTs of one object, for the server's version. Remembers whether one is
/// owed, and the doubt that a list has to remove after it. No I/O.
class ProbePlan {
 public:
    /// The next response may come from another or a restored server.
    void owe() noexcept { owed_ = true; }
    /// Whether a watch is or was opened without a successful probe.
    bool is_owed() const noexcept { return owed_; }
    /// Lists for this reason after a successful probe. `polling`: lists may replace watches.
    void doubt(ListReason reason) noexcept { doubt_ = reason; }
    void forget_doubt() noexcept { doubt_.reset(); }

    /// An object was older than the start version of its watch. A list removes the doubt, because
    /// the other events of this watch may be as old.
    void on_old_object(TimePoint now) noexcept {
        old_object_at_ = now;
        doubt_ = ListReason::silence;
        owed_ = true;
    }
    /// Whether an old object leads to a probe and a list. That happens once an hour, because some
    /// servers send old versions routinely.
    bool doubts_old_objects(TimePoint now) const noexcept {
        return !old_object_at_ || now - *old_object_at_ >= an_hour || owed_;
    }

    /// \returns the reason to list now, if any
    std::optional<ListReason> on_success() noexcept {
        failures_.reset();
        owed_ = false;
        return std::exchange(doubt_, std::nullopt);
    }
    /// The server itself fails, so failed watches prove nothing. Only a silence still calls for a
    /// list.
    /// \param sent    the request was sent
    /// \param denied  the server denies probes to this client
    /// \returns whether to try a watch: the failure may affect only probes. The probe stays owed
    bool on_failure(bool sent, bool denied) noexcept {
        if (doubt_ != ListReason::silence) doubt_.reset();
        if (sent) ++failures_;
        if (!denied && failures_ < max_failures) return false;
        failures_.reset();
        return true;
    }
    /// The server rejects the request of the probe. Some servers reject a limit: then only the list
    /// itself decides.
    /// \returns the reason for it; nullopt: the probe has failed
    std::optional<ListReason> on_rejection() noexcept {
        if (doubt_ == ListReason::polling) return std::nullopt;
        return std::exchange(doubt_, std::nullopt);
    }
    /// The next list comes from another server: nothing is left to verify.
    void on_other_server() noexcept {
        doubt_.reset();
        owed_ = false;
    }

 private:
    static constexpr int max_failures = 2;
    static constexpr Duration an_hour = std::chrono::hours(1);

    OptionalTime old_object_at_;
    SmallCount failures_;  // in a row
    std::optional<ListReason> doubt_;
    bool owed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
