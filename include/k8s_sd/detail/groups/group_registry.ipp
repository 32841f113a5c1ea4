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
    std::erase_if(watchers_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = watchers_[config];
    if (auto watcher = known.lock()) return watcher;
    const asio::any_io_executor strand = make_own_strand(executor);
    auto impl = std::make_shared<GroupWatcherImpl>(
        strand, config, ContextEnvironment::of(executor).with_new_seed());
    // A watcher owns sockets and timers of the strand, so it is destroyed there, whoever drops the
    // last reference.
    std::shared_ptr<GroupWatcher> watcher(
        new GroupWatcher(std::move(impl)), [strand](GroupWatcher* last) {
            asio::dispatch(strand, [owned = std::unique_ptr<GroupWatcher>(last)] {});
        });
    known = watcher;
    return watcher;
}

void GroupRegistry::shutdown() {
    const std::lock_guard lock(mutex_);
    watchers_.clear();
}

}  // namespace k8s_sd::inline v0::detail
