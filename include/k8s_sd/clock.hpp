#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// A timer with one wait at a time. After `cancel()`, a new `expires_at()` or the destruction (each
/// on the timer's executor) the previous handler is not called any more.
class K8S_SD_EXPORT Timer {
 public:
    virtual ~Timer() = default;
    /// Calls `handler` on the timer's executor, as if by post, once `when` is reached.
    virtual void expires_at(TimePoint when, std::function<void()> handler) = 0;
    /// Drops the pending handler, if any.
    virtual void cancel() noexcept = 0;
};

/// The only source of time, replaceable for tests.
class K8S_SD_EXPORT Clock {
 public:
    virtual ~Clock() = default;
    /// The current time. May be called from any thread.
    virtual TimePoint now() const noexcept = 0;
    /// A timer that calls its handlers on this executor. May be called from any thread.
    virtual std::unique_ptr<Timer> make_timer(asio::any_io_executor) = 0;
};

}  // namespace k8s_sd::inline v0
