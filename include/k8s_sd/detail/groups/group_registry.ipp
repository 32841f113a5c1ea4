#include "k8s_sd/detail/base/strand.hpp"
#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"

#include <boost/asio/dispatch.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

asio::execution_context::id GroupRegistry::id;

std::shared_ptr<GroupWatcher> GroupRegistry::acquire(const asio::any_io_executor& executor,
                                                     const ResolvedConfig& config) {
    const std::lock_guard lock(mutex_);
    if (auto watcher = watchers_.find(config)) return watcher;
    const asio::any_io_executor strand = make_own_strand(executor);
    std::unique_ptr<GroupWatcher> watcher(new GroupWatcher(std::make_shared<GroupWatcherImpl>(
        strand, config, ContextEnvironment::of(executor).with_new_seed())));
    // It owns sockets and timers of the strand, so it is destroyed there, whoever drops the last
    // reference.
    return watchers_.add(config, std::move(watcher), [strand](GroupWatcher* last) {
        asio::dispatch(strand, [owned = std::unique_ptr<GroupWatcher>(last)] {});
    });
}

}  // namespace k8s_sd::inline v0::detail
