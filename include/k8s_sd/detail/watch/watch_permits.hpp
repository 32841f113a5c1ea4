#pragma once

#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/client/server_traffic.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The permits of one watch, its timers and its jitter: when it may list, watch and wake up.
///
/// A member of its owner, and used on the executor of the handlers. A handler keeps the owner alive
/// during its call, and is not called once the owner is gone. The handler may destroy the owner.
class WatchPermits {
 public:
    using Owner = std::weak_ptr<const void>;
    using Handler = std::function<void()>;

    static constexpr Duration max_trial_wait = std::chrono::seconds(2);
    static constexpr Duration max_list_permit_wait = std::chrono::minutes(2);
    static constexpr Duration max_list_permit_time = std::chrono::minutes(5);

    /// All references must outlive the permits.
    /// \param traffic  of the present server; call cancel() before it changes
    WatchPermits(const asio::any_io_executor&, Clock&,
                 const std::shared_ptr<ServerTraffic>& traffic, std::uint64_t seed);
    WatchPermits(asio::any_io_executor&&, Clock&, const std::shared_ptr<ServerTraffic>&,
                 std::uint64_t) = delete;

    /// Returns the permits, and cancels all handlers. Nothing is granted afterwards.
    void stop() noexcept;
    /// Returns the permits, and ends all waits but that of leave_later().
    void cancel() noexcept;

    // A stalled list must not block the others indefinitely. So after max_list_permit_wait a list
    // goes ahead without a permit, and after max_list_permit_time it returns its permit. Either way
    // it needs none for its further pages, until return_list_permit().

    /// Takes a list permit if the list has none yet.
    /// \returns whether the list may go ahead
    bool take_list_permit(const Owner&);
    /// Waits for a list permit, or until the list may go ahead without one.
    void async_list_permit(const Owner&, Handler);
    /// The list is complete, or interrupted.
    void return_list_permit() noexcept {
        if (waits_) waits_->list = {};
    }
    /// Returns the present watch permit and takes another one.
    /// \returns false while ServerLimits::watches are open
    bool take_watch_permit();
    void return_watch_permit() noexcept {
        watch_permit_.reset();
        own_connection_.reset();
    }
    /// Takes the right to a connection of its own for the time of the watch permit, if there is
    /// one left.
    void take_own_connection();
    bool has_own_connection() const noexcept { return own_connection_.has_value(); }
    void return_permits() noexcept;

    /// Takes the right to test whether the server streams lists of the kind.
    /// \returns false while another watch tests it
    bool take_stream_trial(Kind);
    void return_stream_trial() noexcept {
        if (waits_) waits_->stream_trial.reset();
    }
    /// Waits for the end of that test, `max_trial_wait` at most: its answer may be late.
    void async_stream_trial_end(const Owner&, const Handler&);

    /// A request begins. A recovery of the server from now on ends the next sleep early.
    void on_request() { recoveries_ = traffic_->recoveries(); }
    /// \param until_recovery  ends early when another request to the server succeeds, but only once
    ///     in a row: a request may fail although the server works
    void async_sleep(Duration, bool until_recovery, const Owner&, const Handler&);
    /// Calls the handler after a pause with jitter, so watches do not hit a new server at the same
    /// time. Replaces the previous call of this function only.
    void leave_later(Owner, Handler);

    /// Sets the timer, which each other wait uses as well: it replaces that wait. The handler is
    /// responsible for its owner.
    void call_after(Duration, Handler);
    void cancel_timer() noexcept { timer_.reset(); }
    /// A watch runs: ends all waits but that of leave_later(), returns the list permit, and frees
    /// the memory of both. There may be thousands of watches.
    void end_waits() noexcept {
        cancel_timer();
        waits_.reset();
    }

    Random& random() noexcept { return random_; }

 private:
    /// Of a list with all its pages.
    struct ListPermit {
        PermitQueue::RequestHandle request;
        PermitQueue::Permit permit;
        std::unique_ptr<Timer> end;  ///< of the permit; null without one
        bool needed = true;          ///< false: the list goes ahead without one
    };
    /// Needed only while the watch does not run.
    struct Waits {
        ServerTraffic::RequestHandle wake_up;
        ServerTraffic::StreamTrial stream_trial;
        ListPermit list;
    };

    void grant_list_permit(PermitQueue::Permit, const Owner&);
    void list_without_permit() noexcept {
        ListPermit& list = waits_.use().list;
        list = {};
        list.needed = false;
    }
    void wait_until_recovery(Duration, const Owner&, const Handler&);
    void wake(TimePoint earliest, TimePoint end, const Owner&, const Handler&);
    void sleep(Duration, const Owner&, const Handler&);
    Duration draw_jitter(Duration max);
    TimePoint now() const noexcept { return clock_.now(); }

    const asio::any_io_executor& executor_;
    Clock& clock_;
    const std::shared_ptr<ServerTraffic>& traffic_;
    Random random_;
    std::unique_ptr<Timer> timer_;    ///< null: no wait, as in an open watch
    std::unique_ptr<Timer> leaving_;  ///< null: not used so far
    Rare<Waits> waits_;
    PermitQueue::Permit watch_permit_;
    Rare<PermitQueue::Permit> own_connection_;  ///< of a few watches
    std::uint64_t recoveries_ = 0;              ///< of the server, when the request began
    bool woken_ = false;  ///< by the server's recovery, before the pause ended
    bool stopped_ = false;
};

}  // namespace k8s_sd::inline v0::detail
