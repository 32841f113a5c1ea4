#pragma once

#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/group_watcher.hpp"

#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <memory>
#include <mutex>

namespace k8s_sd::inline v0::detail {

/// The watchers of one execution context. The registry holds weak references: observers own the
/// watchers.
class GroupRegistry final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit GroupRegistry(asio::execution_context& context)
        : asio::execution_context::service(context) {}
    std::shared_ptr<GroupWatcher> acquire(const asio::any_io_executor&, const ResolvedConfig&);
    /// For library code on the watcher's strand.
    static const std::shared_ptr<GroupWatcherImpl>& impl_of(const GroupWatcher&);
    /// A watcher's configuration was applied again, see GroupWatcherImpl::recheck().
    /// Thread-safe.
    static void recheck(const std::shared_ptr<GroupWatcher>&);
    std::size_t size() const { return watchers_.size(); }

 private:
    void shutdown() override {}

    std::mutex mutex_;  // serializes acquire(), so equal watchers are created once
    WeakMap<ResolvedConfig, GroupWatcher> watchers_;
};

}  // namespace k8s_sd::inline v0::detail
