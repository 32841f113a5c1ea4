#include "k8s_sd/detail/async/run_state.hpp"

#include <boost/asio/error.hpp>

namespace k8s_sd::inline v0::detail {

void RunState::run(RunOperation::Handler handler) {
    auto operation =
        std::make_unique<RunOperation>(std::move(handler), executor_, weak_from_this());
    error_code refusal;
    {
        const std::lock_guard lock(mutex_);
        if (operation_) {
            refusal = asio::error::already_started;
        } else if (cancelled()) {
            refusal = asio::error::operation_aborted;
        } else {
            operation_.swap(operation);
            try {
                begin_once();
            } catch (...) {
                operation_.swap(operation);  // destroyed without the mutex
                throw;
            }
            return;
        }
    }
    RunOperation::complete(std::move(operation), refusal);
}

void RunState::cancel() noexcept {
    const auto self = shared_from_this();
    if (!delivery_.cancel(self)) return;
    {
        const std::lock_guard lock(mutex_);
        end();
    }
    on_ended();
    complete();
}

void RunState::complete() noexcept {
    std::unique_ptr<RunOperation> operation;
    {
        const std::lock_guard lock(mutex_);
        operation = std::move(operation_);
    }
    if (!operation) return;
    // Complete without the mutex: a context being destroyed destroys handlers at once, and their
    // captures may call this object.
    try {
        RunOperation::complete_or_keep(operation, asio::error::operation_aborted);
    } catch (...) {
        {
            const std::lock_guard lock(mutex_);
            operation_ = std::move(operation);
        }
        completion_.call_later(executor_, [self = shared_from_this()] { self->complete(); });
    }
}

}  // namespace k8s_sd::inline v0::detail
