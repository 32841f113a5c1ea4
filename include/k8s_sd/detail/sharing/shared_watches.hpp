#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/sharing/kind_watches.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Views share watches only if these values are equal.
struct WatchedServer {
    ApiServerConfig api_server{};
    WatchOptions watch{};
    auto operator<=>(const WatchedServer&) const = default;
};

/// The watches of one server by kind, for all views. All run on one strand, so objects pass from
/// watches to views without locks. Strand-confined, except where noted.
class SharedWatches {
 public:
    SharedWatches(asio::any_io_executor strand, const WatchedServer& server,
                  const Environment& environment);
    SharedWatches(const SharedWatches&) = delete;
    SharedWatches& operator=(const SharedWatches&) = delete;

    const std::shared_ptr<KindWatches>& of(Kind kind, VersionedDialect dialect);
    /// The existing watches of the kind, of any dialect and version.
    const std::shared_ptr<KindWatches>& for_hosts(Kind kind);
    /// The configuration was applied again: refusals may be void, and the kubeconfig may have
    /// changed.
    void recheck();
    const std::shared_ptr<ApiClient>& client() const noexcept { return common_->client; }

    // Any thread.
    const asio::any_io_executor& strand() const noexcept { return strand_; }
    const Environment& environment() const noexcept { return environment_; }

 private:
    const asio::any_io_executor strand_;
    const Environment environment_;
    const std::shared_ptr<const KindWatches::Common> common_;
    std::map<VersionedDialect, std::shared_ptr<ObjectMaker>> makers_;
    std::map<std::pair<Kind, VersionedDialect>, std::shared_ptr<KindWatches>> kinds_;
};

/// Whether the stored objects of the kind are the same in all dialects. Other kinds store labels
/// per dialect, so each dialect needs its own watches.
constexpr bool is_same_in_all_dialects(Kind kind) noexcept {
    return kind == Kind::pod || kind == Kind::namespace_ || kind == Kind::replicaset ||
           kind == Kind::job;
}

/// The first dialect and version with the same stored objects of the kind.
VersionedDialect stored_dialect(Kind kind, VersionedDialect dialect);

/// The shared watches of one execution context. The registry holds weak references: views own the
/// watches.
class WatchRegistry final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit WatchRegistry(asio::execution_context& context)
        : asio::execution_context::service(context) {}
    /// The shared watches of the executor's context, created on demand.
    static std::shared_ptr<SharedWatches> watches_on(const asio::any_io_executor&,
                                                     const WatchScope&);

 private:
    void shutdown() override {}
    std::shared_ptr<SharedWatches> watches_of(const asio::any_io_executor&, const WatchScope&);

    std::mutex mutex_;  // serializes watches_on(), so equal watches are created once
    WeakMap<WatchedServer, SharedWatches> servers_;
};

}  // namespace k8s_sd::inline v0::detail
