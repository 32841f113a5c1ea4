#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/sharing/watch_registry.hpp"

namespace k8s_sd::inline v0::detail {

asio::execution_context::id WatchRegistry::id;

std::shared_ptr<SharedWatches> WatchRegistry::watches_on(const asio::any_io_executor& executor,
                                                         const WatchScope& scope) {
    auto& registry =
        asio::use_service<WatchRegistry>(asio::query(executor, asio::execution::context));
    const std::lock_guard lock(registry.mutex_);
    return registry.watches_of(executor, scope);
}

std::shared_ptr<SharedWatches> WatchRegistry::watches_of(const asio::any_io_executor& executor,
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
