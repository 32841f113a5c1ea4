#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Calls a function after a pause, in place of a post that lacked memory: by then there may be
/// some. Thread-safe.
class K8S_SD_EXPORT Reminder {
 public:
    explicit Reminder(std::shared_ptr<Clock> clock) : clock_(std::move(clock)) {}
    Reminder(const Reminder&) = delete;
    Reminder& operator=(const Reminder&) = delete;

    /// Calls the function on the executor after the pause. Replaces a pending call. Without memory
    /// for the wait there is no call.
    template <class Function>
    void call_later(const asio::any_io_executor& executor, Function function) noexcept {
        try {
            std::unique_ptr<Timer> timer = clock_->make_timer(executor);
            wait(std::move(timer), std::move(function));
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): nothing else is left
        }
    }
    /// Posts the function; if that lacks memory, calls it later.
    template <class Function>
    void post(const asio::any_io_executor& executor, Function function) noexcept {
        try {
            asio::post(executor, function);
        } catch (const std::exception&) {
            call_later(executor, std::move(function));
        }
    }
    /// Ends a pending call; later ones are ignored.
    void cancel() noexcept;

    static constexpr Duration pause = std::chrono::seconds(1);

 private:
    void wait(std::unique_ptr<Timer>, std::function<void()>);

    const std::shared_ptr<Clock> clock_;
    std::mutex mutex_;
    std::unique_ptr<Timer> timer_;  ///< null: not needed yet, or cancelled
    bool cancelled_ = false;
};

}  // namespace k8s_sd::inline v0::detail
