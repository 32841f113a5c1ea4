#pragma once

#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/detail/groups/shared_watches.hpp"
#include "k8s_sd/group_watcher.hpp"

#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <memory>
#include <mutex>

namespace k8s_sd::inline v0::detail {

/// The watchers of one execution context, and the watches that they share. It holds them weakly:
/// they belong to their observers.
class GroupRegistry final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit GroupRegistry(asio::execution_context& context)
        : asio::execution_context::service(context) {}
    /// Those of the executor's context, made if there are none.
    static std::shared_ptr<SharedWatches> watches_on(const asio::any_io_executor&,
                                                     const WatchScope&);
    std::shared_ptr<GroupWatcher> acquire(const asio::any_io_executor&, const ResolvedConfig&);
    /// For others of the library that work on the watcher's strand.
    static const std::shared_ptr<GroupWatcherImpl>& impl_of(const GroupWatcher&);
    /// The configuration of a watcher was applied again, see GroupWatcherImpl::look_again(). Any
    /// thread.
    static void look_again(const std::shared_ptr<GroupWatcher>&);
    /// Number of watchers.
    std::size_t size() const { return watchers_.size(); }

 private:
    void shutdown() override {}
    std::shared_ptr<SharedWatches> watches_of(const asio::any_io_executor&, const WatchScope&);

    std::mutex mutex_;  // of two who acquire the same, one makes it
    WeakMap<WatchedServer, SharedWatches> servers_;
    WeakMap<ResolvedConfig, GroupWatcher> watchers_;
};

}  // namespace k8s_sd::inline v0::detail
