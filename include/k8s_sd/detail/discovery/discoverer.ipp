#include "k8s_sd/detail/async/host_handle.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/discovery/diff_parts.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/discovery/snapshots/warm_targets.hpp"
#include "k8s_sd/detail/sharing/discoverer_status.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/post.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

using detail::HostHandle;

namespace {

using DiffPtr = std::shared_ptr<const TargetGroupDiff>;

/// The watcher of a configuration, and the resolved configuration.
struct AcquiredWatcher {
    AcquiredWatcher(const asio::any_io_executor& executor, const DiscoveryConfig& given)
        : config(resolve(given, detail::ContextEnvironment::of(executor).in_cluster())),
          watcher(GroupWatcher::acquire(executor, config)) {}
    ResolvedConfig config;
    std::shared_ptr<GroupWatcher> watcher;
};

}  // namespace

class Discoverer::Impl final : public HostHandle<DiffPtr>, public GroupWatcher::Observer {
 public:
    Impl(const executor_type& executor, const DiscoveryConfig& config, Callback callback)
        : Impl(executor, config, std::move(callback), AcquiredWatcher(executor, config)) {}

    /// Called before it runs. \throws ConfigError
    void set_warm_start(const WarmStart& options) {
        if (options.directory.empty()) return;
        warm_ = std::make_shared<detail::WarmTargets>(*watcher_, resolved_, role_, options,
                                                      self_as<GroupWatcher::Observer>(this));
    }

    DiscovererStatus status() const override {
        const std::lock_guard lock(mutex_);
        DiscovererStatus status = detail::discoverer_status(subscription_.status());
        status.cluster = resolved_.view.cluster.name;
        if (status.server.empty()) status.server = resolved_.scope.api_server.url;
        if (warm_ && !cancelled()) warm_->add_status(status);
        return status;
    }

 private:
    Impl(const executor_type& executor, const DiscoveryConfig& config, Callback callback,
         AcquiredWatcher acquired)
        : HostHandle(executor, acquired.watcher->get_executor(),
                     acquired.watcher->environment().clock, acquired.watcher->environment().metrics,
                     config.min_update_interval, callback != nullptr),
          role_(config.role),
          max_groups_(config.max_groups_per_diff),
          callback_(std::move(callback)),
          metrics_(acquired.watcher->environment().metrics),
          resolved_(std::move(acquired.config)),
          watcher_(std::move(acquired.watcher)) {}

    void begin() override {
        if (!warm_) {
            subscription_ = watcher_->subscribe(role_, self_as<GroupWatcher::Observer>(this));
            return;
        }
        warm_->start();
        subscription_ = watcher_->subscribe(role_, warm_);
    }

    void end() noexcept override {
        // Post the release: a discoverer that replaces this one may be started by a later handler,
        // and should find the watches alive. Releasing large diffs takes long.
        asio::post(watcher_->get_executor(),
                   [subscription = std::move(subscription_), parts = std::move(parts_),
                    state = std::move(state_)]() mutable { subscription.reset(); });
        if (warm_) warm_->stop();
        watcher_.reset();
        pending_.clear();
        confirms_ = false;
    }

    // --- events of the watcher --------------------------------------------------------------

    void on_ready(const DiffPtr& state) override {
        {
            const std::lock_guard lock(mutex_);
            if (cancelled()) return;
            state_ = state;
            note_changes();
            wake();
        }
        // A snapshot is not a confirmed state.
        state->unconfirmed ? on_status_change() : on_first_state();
    }

    void on_confirmed() override {
        {
            const std::lock_guard lock(mutex_);
            if (cancelled()) return;
            confirms_ = true;
            note_changes();
            wake();
        }
        on_first_state();
    }

    void on_changes(const std::vector<GroupChange>& changes) override {
        const std::lock_guard lock(mutex_);
        if (cancelled()) return;
        const bool had_news = has_news();
        for (const GroupChange& change : changes) pending_.add(change);
        note_changes();
        // With news already pending, a delivery is scheduled.
        if (!had_news && has_news()) wake();
    }

    void on_status() override { on_status_change(); }

    // --- delivery ---------------------------------------------------------------------------

    bool has_news() const override {
        return continues() || state_ || confirms_ || !pending_.empty();
    }
    bool continues() const override { return !parts_.empty(); }

    DiffPtr take_news() override {
        if (parts_.empty()) begin_parts();
        auto [part, whole] = parts_.take(max_groups_);
        if (whole) release(std::move(whole));
        return part;
    }

    void begin_parts() {
        if (state_) return parts_.begin(std::exchange(state_, nullptr));
        auto diff = std::make_shared<TargetGroupDiff>(pending_.take());
        diff->confirms = std::exchange(confirms_, false);
        parts_.begin_own(std::move(diff));
    }

    /// In a handler of its own. Without memory for one, at once: the host must receive the part.
    void release(DiffPtr diff) noexcept {
        try {
            asio::post(watcher_->get_executor(), [released = std::move(diff)] {});
        } catch (const std::exception&) {
        }
    }

    void on_delivery() override {
        metrics_->diffs_delivered.fetch_add(1, std::memory_order_relaxed);
    }

    void call(const DiffPtr& diff) override { callback_(*diff); }

    const Role role_;
    const std::size_t max_groups_;  // in a diff; zero: no limit
    const Callback callback_;
    const std::shared_ptr<Metrics> metrics_;
    const ResolvedConfig resolved_;

    // Guarded by the mutex.
    std::shared_ptr<GroupWatcher> watcher_;
    std::shared_ptr<detail::WarmTargets> warm_;  // null: no snapshot
    GroupWatcher::Subscription subscription_;
    detail::DiffParts parts_;         // the rest of the diff that the host is receiving
    DiffPtr state_;                   // until it is delivered
    detail::PendingChanges pending_;  // changes since the state was delivered
    bool confirms_ = false;           // the state of a snapshot has been confirmed
};

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config, Callback callback,
                       const WarmStart& warm_start) {
    detail::check_host_executor(executor, "Discoverer");
    detail::check_callback(callback, "Discoverer");
    impl_ = std::make_shared<Impl>(executor, config, std::move(callback));
    impl_->set_warm_start(warm_start);
}

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config,
                       const WarmStart& warm_start) {
    detail::check_host_executor(executor, "Discoverer");
    impl_ = std::make_shared<Impl>(executor, config, nullptr);
    impl_->set_warm_start(warm_start);
}

Discoverer& Discoverer::operator=(Discoverer&& other) noexcept {
    detail::take_over(impl_, other.impl_);
    return *this;
}

Discoverer::~Discoverer() { cancel(); }

Discoverer::executor_type Discoverer::get_executor() const noexcept { return impl_->executor(); }

void Discoverer::set_status_callback(StatusCallback callback) {
    impl_->set_status_callback(std::move(callback));
}

void Discoverer::run(const std::shared_ptr<Impl>& impl, Handler handler) {
    impl->run(std::move(handler));
}

void Discoverer::wait_synced(const std::shared_ptr<Impl>& impl, Handler handler) {
    impl->wait_synced(std::move(handler));
}

void Discoverer::read(const std::shared_ptr<Impl>& impl, ReaderPtr reader) {
    impl->read(std::move(reader));
}

TargetGroupDiff Discoverer::to_diff(const std::shared_ptr<const TargetGroupDiff>& diff) {
    return *diff;
}

void Discoverer::cancel() noexcept {
    if (impl_) impl_->cancel();
}

DiscovererStatus Discoverer::status() const { return impl_->status(); }

}  // namespace k8s_sd::inline v0
