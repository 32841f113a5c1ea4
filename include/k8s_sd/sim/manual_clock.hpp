#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>

namespace k8s_sd::inline v0::sim {

/// A clock moved by the test. Use the same one for Environment::clock and ApiServerOptions::clock:
/// backoff, bookmarks, timeouts and renewals of hours then take no time.
///
/// It begins at a fixed time, so a test runs the same way each time. Its timers may outlive it.
/// Thread-safe, as far as timers are used on their executors.
class K8S_SD_EXPORT ManualClock final : public Clock {
 public:
    ManualClock();
    ~ManualClock() override;
    ManualClock(const ManualClock&) = delete;
    ManualClock& operator=(const ManualClock&) = delete;

    /// The time set by the test so far.
    TimePoint now() const noexcept override;
    std::unique_ptr<Timer> make_timer(asio::any_io_executor) override;

    /// Advances the time and posts the handlers of all timers expired by then, the earliest first.
    /// All of them see the new time. \param time  not negative
    void advance(Duration time);
    /// Advances the time as it would really pass: runs all ready handlers, then moves to the next
    /// timer and runs the ready handlers, up to the end. Each timer sees its own time. With a time
    /// of zero it runs ready handlers and expired timers.
    ///
    /// Call it from the only thread of the context, outside of handlers. It does not wait for
    /// sockets, files or other threads. It does not return while handlers keep posting handlers or
    /// immediately expiring timers.
    /// \param time  not negative \returns the number of invoked handlers
    std::size_t advance(asio::io_context&, Duration time);
    /// Expiry of the earliest timer with an unposted handler; TimePoint::max() if there is none.
    TimePoint next_expiry() const noexcept;

 private:
    class ManualTimer;
    struct State;
    struct Wait;
    void advance_to(TimePoint);

    std::shared_ptr<State> state_;
};

}  // namespace k8s_sd::inline v0::sim
