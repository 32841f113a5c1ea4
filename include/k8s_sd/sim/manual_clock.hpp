#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>

namespace k8s_sd::inline v0::sim {

/// Time that moves when a test says so. Give the same one to Environment::clock and to
/// ApiServerOptions::clock: backoff, bookmarks, time-outs and renewals of hours take no time then.
///
/// It begins at a fixed time, so that a test runs alike each time. Its timers may outlive it.
/// Thread-safe, as far as timers are used on their executors.
class K8S_SD_EXPORT ManualClock final : public Clock {
 public:
    ManualClock();
    ~ManualClock() override;
    ManualClock(const ManualClock&) = delete;
    ManualClock& operator=(const ManualClock&) = delete;

    /// The time up to which the test has moved it.
    TimePoint now() const noexcept override;
    std::unique_ptr<Timer> make_timer(asio::any_io_executor) override;

    /// Moves the time on and posts the handlers of all timers that are due by then, the earliest
    /// first. All of them see the new time. \param time  not negative
    void advance(Duration time);
    /// Moves the time on in the way time passes: runs what is ready, then moves to the next timer
    /// and runs what is ready, up to the end. Each timer sees its own time. With no time it runs
    /// what is ready and the timers that are due.
    ///
    /// Call it from the thread that has the context to itself, and not from a handler. It waits
    /// for nothing: not for sockets, files or other threads. It does not return while handlers go
    /// on to post handlers, or timers that are due at once.
    /// \param time  not negative \returns the number of handlers that ran
    std::size_t advance(asio::io_context&, Duration time);
    /// When the earliest timer is due whose handler is not yet posted; TimePoint::max() without
    /// one.
    TimePoint next_expiry() const noexcept;

 private:
    class ManualTimer;
    struct State;
    struct Wait;
    void advance_to(TimePoint);

    std::shared_ptr<State> state_;
};

}  // namespace k8s_sd::inline v0::sim
