#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"
#include "k8s_sd/group_watcher.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

GroupWatcher::GroupWatcher(std::shared_ptr<detail::GroupWatcherImpl> impl)
    : impl_(std::move(impl)) {}
GroupWatcher::~GroupWatcher() = default;

std::shared_ptr<GroupWatcher> GroupWatcher::acquire(const asio::any_io_executor& executor,
                                                    const ResolvedConfig& config) {
    detail::check_host_executor(executor, "GroupWatcher");
    for (const std::string& ns : config.scope.namespaces) {
        detail::check_namespace_name("namespaces", ns);
    }
    auto& context = asio::query(executor, asio::execution::context);
    return asio::use_service<detail::GroupRegistry>(context).acquire(executor, config);
}

GroupWatcher::Subscription GroupWatcher::subscribe(Role role, std::weak_ptr<Observer> observer) {
    Subscription subscription;
    subscription.watcher_ = shared_from_this();
    subscription.observer_ = observer;
    subscription.role_ = role;
    // Posted, because an observer may subscribe another one from its callback.
    impl_->expect_observer();
    asio::post(impl_->strand(), [self = shared_from_this(), role, observer = std::move(observer)] {
        self->impl_->subscribe(role, observer);
    });
    return subscription;
}

asio::any_io_executor GroupWatcher::get_executor() const { return impl_->strand(); }
std::vector<WatchStatus> GroupWatcher::status(Role role) const { return impl_->status(role); }
const Environment& GroupWatcher::environment() const { return impl_->environment(); }

GroupWatcher::Subscription& GroupWatcher::Subscription::operator=(Subscription&& other) noexcept {
    if (this != &other) {
        reset();
        watcher_ = std::move(other.watcher_);
        observer_ = std::move(other.observer_);
        role_ = other.role_;
    }
    return *this;
}

void GroupWatcher::Subscription::reset() noexcept {
    if (!watcher_) return;
    // Posted, so an observer subscribed right now is counted before this one is removed.
    const auto strand = watcher_->get_executor();
    asio::post(strand, [watcher = std::move(watcher_), observer = std::move(observer_),
                        role = role_] { watcher->impl_->unsubscribe(role, observer); });
    watcher_ = nullptr;
}

std::vector<WatchStatus> GroupWatcher::Subscription::status() const {
    return watcher_ ? watcher_->status(role_) : std::vector<WatchStatus>();
}

}  // namespace k8s_sd::inline v0

namespace k8s_sd::inline v0::detail {

asio::execution_context::id GroupRegistry::id;

namespace {

/// Equal configurations share a watcher.
ResolvedConfig watched_config(ResolvedConfig config) {
    config.scope.api_server = configured_server(config.scope.api_server);
    return config;
}

/// Null for a server without a name.
LabelBlockPtr cluster_block(const ClusterName& cluster) {
    if (cluster.name.empty()) return nullptr;
    const std::string_view names[] = {cluster.label};
    std::string packed;
    pack_value(packed, cluster.name);
    return LabelBlock::make(LabelShapePtr(new LabelShape(LabelShape::OwnNames{names})), packed);
}

RoleOptions role_options(const ResolvedConfig& config) {
    RoleOptions options;
    options.rules = &rules_of(config.view.dialect);
    options.version_rules = &version_rules_of(dialect_of(config.view));
    options.attach = config.view.attach_metadata;
    options.division = config.view.division;
    options.by_namespace = !config.scope.namespaces.empty();
    options.max_targets = config.scope.watch.max_targets_per_object;
    options.cluster = cluster_block(config.view.cluster);
    return options;
}

}  // namespace

const std::shared_ptr<GroupWatcherImpl>& GroupRegistry::impl_of(const GroupWatcher& watcher) {
    return Access::shared_impl(watcher);
}

void GroupRegistry::recheck(const std::shared_ptr<GroupWatcher>& watcher) {
    asio::post(watcher->get_executor(), [watcher] { Access::impl(*watcher).recheck(); });
}

std::shared_ptr<GroupMaking> GroupRegistry::making_of(const SharedWatches& watches,
                                                      const ResolvedConfig& config) {
    const GroupSettings settings{&watches, config.view, !config.scope.namespaces.empty()};
    if (auto making = makings_.find(settings)) return making;
    auto making = std::make_unique<GroupMaking>();
    making->maker.options = role_options(config);
    return makings_.add(settings, std::move(making));
}

std::shared_ptr<GroupWatcher> GroupRegistry::acquire(const asio::any_io_executor& executor,
                                                     const ResolvedConfig& config) {
    const std::lock_guard lock(mutex_);
    const ResolvedConfig watched = watched_config(config);
    if (auto watcher = watchers_.find(watched)) return watcher;
    auto watches = WatchRegistry::watches_on(executor, config.scope);
    const asio::any_io_executor strand = watches->strand();
    auto making = making_of(*watches, config);
    auto watcher = Access::make_unique<GroupWatcher>(
        std::make_shared<GroupWatcherImpl>(std::move(watches), std::move(making), config));
    return watchers_.add(watched, std::move(watcher), DestroyOn{strand});
}

}  // namespace k8s_sd::inline v0::detail
