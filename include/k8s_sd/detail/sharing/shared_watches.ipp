#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::shared_ptr<const KindWatches::Common> make_common(const asio::any_io_executor& strand,
                                                       const WatchedServer& server,
                                                       const Environment& environment) {
    auto common = std::make_shared<KindWatches::Common>();
    common->options = server.watch;
    common->client = make_shared_client(strand, server.api_server, environment);
    return common;
}

}  // namespace

SharedWatches::SharedWatches(asio::any_io_executor strand, const WatchedServer& server,
                             const Environment& environment)
    : strand_(std::move(strand)),
      environment_(environment),
      common_(make_common(strand_, server, environment_)) {}

VersionedDialect stored_dialect(Kind kind, VersionedDialect dialect) {
    if (is_same_in_all_dialects(kind)) return {};
    const auto fields_in = [&](PrometheusVersion version) {
        return version_fields(kind, version_rules_of({dialect.labels, version}));
    };
    const Fields wanted = fields_in(dialect.version);
    PrometheusVersion first{};
    while (fields_in(first) != wanted) {
        first = static_cast<PrometheusVersion>(static_cast<unsigned>(first) + 1);
    }
    return {dialect.labels, first};
}

const std::shared_ptr<KindWatches>& SharedWatches::of(Kind kind, VersionedDialect dialect) {
    const VersionedDialect kept = stored_dialect(kind, dialect);
    std::shared_ptr<KindWatches>& watches = kinds_[{kind, kept}];
    if (watches) return watches;
    std::shared_ptr<ObjectMaker>& maker = makers_[kept];
    if (!maker) {
        maker = std::make_shared<ObjectMaker>();
        maker->options.rules = &rules_of(kept.labels);
        maker->options.version_rules = &version_rules_of(kept);
    }
    watches = std::make_shared<KindWatches>(kind, common_, maker);
    return watches;
}

void SharedWatches::recheck() {
    impl_of(*client()).check_kubeconfig();
    for (const auto& [key, watches] : kinds_) watches->recheck();
}

const std::shared_ptr<KindWatches>& SharedWatches::for_hosts(Kind kind) {
    const auto it = kinds_.lower_bound({kind, VersionedDialect{}});
    const bool known = it != kinds_.end() && it->first.first == kind;
    return of(kind, known ? it->first.second : VersionedDialect{});
}

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
