#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// One wait at a time. After `cancel()`, a new `expires_at()` or the destruction (each on the
/// executor the timer was made for) the previous handler is not called any more.
class Timer {
 public:
    virtual ~Timer() = default;
    /// Calls `handler` on the timer's executor, as if by post, once `when` is reached.
    virtual void expires_at(TimePoint when, std::function<void()> handler) = 0;
    virtual void cancel() noexcept = 0;
};

/// The only source of time. Tests replace it.
class Clock {
 public:
    virtual ~Clock() = default;
    virtual TimePoint now() const noexcept = 0;
    virtual std::unique_ptr<Timer> make_timer(asio::any_io_executor) = 0;
};

}  // namespace k8s_sd::inline v0
