#include "watcher_registry.hpp"

#include "api_client_impl.hpp"
#include "group_watcher_impl.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

namespace k8s_sd {

namespace detail {

namespace {

asio::any_io_executor without_strand(asio::any_io_executor executor) {
    using Io = asio::io_context::executor_type;
    using Pool = asio::thread_pool::executor_type;
    if (const auto* io = executor.target<asio::strand<Io>>()) return io->get_inner_executor();
    if (const auto* pool = executor.target<asio::strand<Pool>>()) return pool->get_inner_executor();
    if (const auto* any = executor.target<asio::strand<asio::any_io_executor>>()) {
        return without_strand(any->get_inner_executor());
    }
    return executor;
}

}  // namespace

asio::execution_context::id WatcherRegistry::id;

WatcherRegistry::WatcherRegistry(asio::execution_context& context, Environment environment)
    : asio::execution_context::service(context),
      environment_(with_defaults(std::move(environment))) {}

asio::any_io_executor WatcherRegistry::make_strand(const asio::any_io_executor& executor) {
    return asio::make_strand(without_strand(executor));
}

Environment WatcherRegistry::environment() {
    const std::lock_guard lock(mutex_);
    ++environment_.seed;
    return environment_;
}

std::shared_ptr<GroupWatcher> WatcherRegistry::acquire(const asio::any_io_executor& executor,
                                                       const GroupKey& group_key) {
    const std::lock_guard lock(mutex_);
    std::erase_if(groups_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = groups_[group_key];
    if (auto group = known.lock()) return group;
    ++environment_.seed;  // groups that fail together are not to come back together
    const asio::any_io_executor strand = make_strand(executor);
    auto impl = std::make_unique<GroupWatcher::Impl>(strand, group_key, environment_);
    // Watchers own sockets and timers of the strand, so they are destroyed there, whoever drops
    // the last reference.
    std::shared_ptr<GroupWatcher> group(
        new GroupWatcher(std::move(impl)), [strand](GroupWatcher* last) {
            asio::dispatch(strand, [owned = std::unique_ptr<GroupWatcher>(last)] {});
        });
    known = group;
    return group;
}

void WatcherRegistry::shutdown() {
    const std::lock_guard lock(mutex_);
    groups_.clear();
    environment_ = {};
}

}  // namespace detail

void install(asio::execution_context& context, Environment environment) {
    asio::make_service<detail::WatcherRegistry>(context, std::move(environment));
}

std::shared_ptr<Metrics> metrics_of(asio::execution_context& context) {
    return asio::use_service<detail::WatcherRegistry>(context).metrics();
}

}  // namespace k8s_sd
