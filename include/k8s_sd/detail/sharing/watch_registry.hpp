#pragma once

#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"

#include <boost/asio/execution_context.hpp>
#include <memory>
#include <mutex>

namespace k8s_sd::inline v0::detail {

/// The shared watches of one execution context. The registry holds weak references: views own the
/// watches.
class WatchRegistry final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit WatchRegistry(asio::execution_context& context)
        : asio::execution_context::service(context) {}
    /// The shared watches of the executor's context, created on demand.
    static std::shared_ptr<SharedWatches> watches_on(const asio::any_io_executor&,
                                                     const WatchScope&);

 private:
    void shutdown() override {}
    std::shared_ptr<SharedWatches> watches_of(const asio::any_io_executor&, const WatchScope&);

    std::mutex mutex_;  // serializes watches_on(), so equal watches are created once
    WeakMap<WatchedServer, SharedWatches> servers_;
};

}  // namespace k8s_sd::inline v0::detail
