#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/group_watcher.hpp"

#include <boost/asio/execution_context.hpp>
#include <map>
#include <memory>
#include <mutex>

namespace k8s_sd::detail {

/// The groups and the environment of one execution context. It holds the groups weakly: they
/// belong to their subscribers.
class WatcherRegistry final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit WatcherRegistry(asio::execution_context& context, Environment environment = {});
    std::shared_ptr<GroupWatcher> acquire(const asio::any_io_executor&, const GroupKey&);
    /// A strand for watchers on the context of an executor. Never that of a host: a callback that
    /// blocks there would stall the watches of everybody who shares them.
    static asio::any_io_executor make_strand(const asio::any_io_executor&);
    /// With a seed of its own: those who fail together are not to come back together.
    Environment environment();
    std::shared_ptr<Metrics> metrics() const { return environment_.metrics; }
    std::shared_ptr<Clock> clock() const { return environment_.clock; }
    const InClusterFiles& in_cluster() const { return environment_.in_cluster; }

 private:
    /// Clock and connector may own I/O objects, which must go before the services they use.
    void shutdown() override;

    std::mutex mutex_;
    std::map<GroupKey, std::weak_ptr<GroupWatcher>> groups_;
    Environment environment_;
};

}  // namespace k8s_sd::detail
