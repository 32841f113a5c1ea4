#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

asio::execution_context::id GroupRegistry::id;

namespace {

/// Equal configurations share a watcher.
ResolvedConfig watched_config(ResolvedConfig config) {
    config.scope.api_server = configured_server(config.scope.api_server);
    return config;
}

}  // namespace

const std::shared_ptr<GroupWatcherImpl>& GroupRegistry::impl_of(const GroupWatcher& watcher) {
    return Access::shared_impl(watcher);
}

void GroupRegistry::recheck(const std::shared_ptr<GroupWatcher>& watcher) {
    asio::post(watcher->get_executor(), [watcher] { Access::impl(*watcher).recheck(); });
}

std::shared_ptr<GroupWatcher> GroupRegistry::acquire(const asio::any_io_executor& executor,
                                                     const ResolvedConfig& config) {
    const std::lock_guard lock(mutex_);
    const ResolvedConfig watched = watched_config(config);
    if (auto watcher = watchers_.find(watched)) return watcher;
    auto watches = WatchRegistry::watches_on(executor, config.scope);
    const asio::any_io_executor strand = watches->strand();
    auto watcher = Access::make_unique<GroupWatcher>(
        std::make_shared<GroupWatcherImpl>(std::move(watches), config));
    return watchers_.add(watched, std::move(watcher), DestroyOn{strand});
}

}  // namespace k8s_sd::inline v0::detail
