#include "k8s_sd/detail/base/strand.hpp"
#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/detail/net/server_identity.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

asio::execution_context::id GroupRegistry::id;

namespace {

/// Destroys an owner of sockets and timers on its strand, wherever its last reference is released.
/// A separate invocation is necessary, because the release may happen inside an observer's call.
struct DestroyOn {
    asio::any_io_executor strand;

    template <class T>
    void operator()(T* last) const {
        asio::post(strand, [owned = std::unique_ptr<T>(last)] {});
    }
};

/// Equal configurations share a watcher.
ResolvedConfig watched_config(ResolvedConfig config) {
    config.scope.api_server = configured_server(config.scope.api_server);
    return config;
}

}  // namespace

const std::shared_ptr<GroupWatcherImpl>& GroupRegistry::impl_of(const GroupWatcher& watcher) {
    return watcher.impl_;
}

void GroupRegistry::recheck(const std::shared_ptr<GroupWatcher>& watcher) {
    asio::post(watcher->get_executor(), [watcher] { watcher->impl_->recheck(); });
}

std::shared_ptr<GroupWatcher> GroupRegistry::acquire(const asio::any_io_executor& executor,
                                                     const ResolvedConfig& config) {
    const std::lock_guard lock(mutex_);
    const ResolvedConfig watched = watched_config(config);
    if (auto watcher = watchers_.find(watched)) return watcher;
    auto watches = watches_of(executor, config.scope);
    const asio::any_io_executor strand = watches->strand();
    std::unique_ptr<GroupWatcher> watcher(
        new GroupWatcher(std::make_shared<GroupWatcherImpl>(std::move(watches), config)));
    return watchers_.add(watched, std::move(watcher), DestroyOn{strand});
}

std::shared_ptr<SharedWatches> GroupRegistry::watches_on(const asio::any_io_executor& executor,
                                                         const WatchScope& scope) {
    auto& registry =
        asio::use_service<GroupRegistry>(asio::query(executor, asio::execution::context));
    const std::lock_guard lock(registry.mutex_);
    return registry.watches_of(executor, scope);
}

std::shared_ptr<SharedWatches> GroupRegistry::watches_of(const asio::any_io_executor& executor,
                                                         const WatchScope& scope) {
    const WatchedServer server{configured_server(scope.api_server), scope.watch};
    if (auto watches = servers_.find(server)) return watches;
    const asio::any_io_executor strand = make_own_strand(executor);
    return servers_.add(
        server,
        std::make_unique<SharedWatches>(strand, WatchedServer{scope.api_server, scope.watch},
                                        ContextEnvironment::of(executor).with_new_seed()),
        DestroyOn{strand});
}

}  // namespace k8s_sd::inline v0::detail
