#pragma once

#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Pending waits for the first complete state. Any thread.
class K8S_SD_EXPORT SyncWaits : public std::enable_shared_from_this<SyncWaits> {
 public:
    using Handler = Operation<>::Handler;

    /// Completes at once if the result is already known.
    void add(Handler, const asio::any_io_executor& host);
    /// Completes all pending waits, and later ones. Success is final, a failure is not. Waits whose
    /// completion cannot be posted, as without memory, stay pending; the next call completes them.
    /// \throws the first exception of a post, after all the others
    void finish(error_code);
    /// Completes all pending waits with operation_aborted, or with an earlier success.
    void stop() noexcept;

 private:
    /// A pending wait; the cancellation slot of its operation refers to it.
    struct Wait {
        std::weak_ptr<SyncWaits> all;
        std::unique_ptr<Operation<>> operation;
        void cancel();
    };
    using Waits = std::list<std::shared_ptr<Wait>>;
    void cancel(const Wait&);
    void abort(Wait&);
    Waits::iterator find(const Wait&) noexcept;

    std::mutex mutex_;
    std::optional<error_code> result_;
    Waits waits_;
};

}  // namespace k8s_sd::inline v0::detail
