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
            operation_ = std::move(operation);
            begin_once();
            return;
        }
    }
    RunOperation::complete(std::move(operation), refusal);
}

void RunState::cancel() noexcept {
    const auto self = shared_from_this();
    if (!delivery_.cancel(self)) return;
    std::unique_ptr<RunOperation> operation;
    {
        const std::lock_guard lock(mutex_);
        end();
        operation = std::move(operation_);
    }
    // Complete without the mutex: a context being destroyed destroys handlers at once, and their
    // captures may call this object.
    on_ended();
    if (operation) RunOperation::complete(std::move(operation), asio::error::operation_aborted);
}

}  // namespace k8s_sd::inline v0::detail
