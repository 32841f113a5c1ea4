#pragma once

#include "k8s_sd/detail/async/delivery.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The state behind a handle: the executor of the host, one async_run(), deliveries to the host,
/// and the end. Objects of the host are neither called nor destroyed under the mutex.
class K8S_SD_EXPORT RunState : public Delivery::Source,
                               public std::enable_shared_from_this<RunState> {
 public:
    virtual ~RunState() = default;
    RunState(const RunState&) = delete;
    RunState& operator=(const RunState&) = delete;

    const asio::any_io_executor& executor() const noexcept { return executor_; }

    // Any thread.
    /// Begins; completes after cancel(). Refused while another run is pending, and after cancel().
    void run(RunOperation::Handler);
    /// Only the first call has an effect. Once it returns, at most one call of the host is still
    /// running.
    void cancel() noexcept;

 protected:
    /// See Delivery.
    RunState(const asio::any_io_executor& executor, asio::any_io_executor origin,
             const std::shared_ptr<Clock>& clock, int calls_per_batch)
        : executor_(executor),
          delivery_(executor, std::move(origin), clock, calls_per_batch),
          end_(clock),
          completion_(clock) {}

    // Implemented by the derived class, under the mutex.
    /// Called once, if at all.
    virtual void begin() {}
    virtual void end() noexcept {}
    /// Called after end(), without the mutex.
    virtual void on_ended() noexcept {}

    /// Under the mutex.
    void begin_once() {
        if (begun_) return;
        begin();
        begun_ = true;  // not before: without memory, the next call begins
    }
    /// Posts the last function of this object on another executor, from end() or on_ended().
    /// Without memory it is called after a pause.
    template <class Function>
    void post_end(const asio::any_io_executor& executor, Function function) noexcept {
        end_.post(executor, std::move(function));
    }
    /// Whether async_run() is pending. Under the mutex.
    bool running() const noexcept { return operation_ != nullptr; }
    bool cancelled() const noexcept { return delivery_.cancelled(); }
    /// Schedules a delivery.
    void wake() { delivery_.wake(shared_from_this()); }
    /// See Delivery::missed().
    bool missed_delivery() const noexcept { return delivery_.missed(); }
    Clock& clock() const noexcept { return delivery_.clock(); }
    /// The executor of the producer.
    const asio::any_io_executor& origin() const noexcept { return delivery_.origin(); }
    const Delivery::Strand& delivery_strand() const noexcept { return delivery_.strand(); }
    /// A shared_ptr to the derived object; it owns the whole object.
    template <class Derived>
    std::shared_ptr<Derived> self_as(Derived* derived) {
        return {shared_from_this(), derived};
    }

    mutable std::mutex mutex_;

 private:
    void complete() noexcept;

    const asio::any_io_executor executor_;
    Delivery delivery_;
    Reminder end_;         // of post_end()
    Reminder completion_;  // of the operation
    // Guarded by the mutex.
    std::unique_ptr<RunOperation> operation_;
    bool begun_ = false;
};

/// Move assignment of a handle: cancels the state it has, and takes over the other one.
template <class State>
void take_over(std::shared_ptr<State>& state, std::shared_ptr<State>& other) noexcept {
    if (&state == &other) return;
    if (state) state->cancel();
    state = std::move(other);
}

}  // namespace k8s_sd::inline v0::detail
