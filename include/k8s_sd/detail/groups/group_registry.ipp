#include "k8s_sd/detail/base/strand.hpp"
#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"

#include <boost/asio/dispatch.hpp>
#include <utility>

namespace k8s_sd::inline v0::detail {

asio::execution_context::id GroupRegistry::id;

namespace {

/// What owns sockets and timers of a strand is destroyed there, whoever drops the last reference.
struct DestroyOn {
    asio::any_io_executor strand;

    template <class T>
    void operator()(T* last) const {
        asio::dispatch(strand, [owned = std::unique_ptr<T>(last)] {});
    }
};

}  // namespace

std::shared_ptr<GroupWatcher> GroupRegistry::acquire(const asio::any_io_executor& executor,
                                                     const ResolvedConfig& config) {
    const std::lock_guard lock(mutex_);
    if (auto watcher = watchers_.find(config)) return watcher;
    auto watches = watches_of(executor, config.scope);
    const asio::any_io_executor strand = watches->strand();
    std::unique_ptr<GroupWatcher> watcher(
        new GroupWatcher(std::make_shared<GroupWatcherImpl>(std::move(watches), config)));
    return watchers_.add(config, std::move(watcher), DestroyOn{strand});
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
    const WatchedServer server{scope.api_server, scope.watch};
    if (auto watches = servers_.find(server)) return watches;
    const asio::any_io_executor strand = make_own_strand(executor);
    return servers_.add(server,
                        std::make_unique<SharedWatches>(
                            strand, server, ContextEnvironment::of(executor).with_new_seed()),
                        DestroyOn{strand});
}

}  // namespace k8s_sd::inline v0::detail
