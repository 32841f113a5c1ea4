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
    std::erase_if(groups_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = groups_[config];
    if (auto group = known.lock()) return group;
    const asio::any_io_executor strand = make_own_strand(executor);
    auto impl = std::make_shared<GroupWatcherImpl>(
        strand, config, ContextEnvironment::of(executor).with_new_seed());
    // Watchers own sockets and timers of the strand, so they are destroyed there, whoever drops
    // the last reference.
    std::shared_ptr<GroupWatcher> group(
        new GroupWatcher(std::move(impl)), [strand](GroupWatcher* last) {
            asio::dispatch(strand, [owned = std::unique_ptr<GroupWatcher>(last)] {});
        });
    known = group;
    return group;
}

void GroupRegistry::shutdown() {
    const std::lock_guard lock(mutex_);
    groups_.clear();
}

}  // namespace k8s_sd::inline v0::detail
