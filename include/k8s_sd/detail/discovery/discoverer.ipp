#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/base/host_handle.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/groups/discoverer_status.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

using detail::HostHandle;

namespace {

using DiffPtr = std::shared_ptr<const TargetGroupDiff>;

std::shared_ptr<GroupWatcher> acquire_watcher(const asio::any_io_executor& executor,
                                              const DiscoveryConfig& config) {
    const auto& files = detail::ContextEnvironment::of(executor).in_cluster();
    return GroupWatcher::acquire(executor, resolve(config, files));
}

}  // namespace

class Discoverer::Impl final : public HostHandle<DiffPtr>, public GroupWatcher::Observer {
 public:
    Impl(const executor_type& executor, const DiscoveryConfig& config, Callback callback)
        : Impl(executor, config, std::move(callback), acquire_watcher(executor, config)) {}

    DiscovererStatus status() const override {
        const std::lock_guard lock(mutex_);
        return detail::discoverer_status(subscription_.status());
    }

 private:
    Impl(const executor_type& executor, const DiscoveryConfig& config, Callback callback,
         std::shared_ptr<GroupWatcher> watcher)
        : HostHandle(executor, watcher->get_executor(), watcher->environment().clock,
                     watcher->environment().metrics, config.min_update_interval,
                     callback != nullptr),
          role_(config.role),
          callback_(std::move(callback)),
          metrics_(watcher->environment().metrics),
          watcher_(std::move(watcher)) {}

    void begin() override {
        subscription_ = watcher_->subscribe(role_, self_as<GroupWatcher::Observer>(this));
    }

    void end() noexcept override {
        // By post: a discoverer that takes the place of this one may run a turn later, and is to
        // find the watches.
        asio::post(watcher_->get_executor(),
                   [subscription = std::move(subscription_)]() mutable { subscription.reset(); });
        watcher_.reset();
        state_.reset();
        pending_.clear();
    }

    // --- what the watcher finds -------------------------------------------------------------

    void on_ready(const DiffPtr& state) override {
        {
            const std::lock_guard lock(mutex_);
            if (cancelled()) return;
            state_ = state;
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
        // With news already, the call is on its way or waits for its time.
        if (!had_news && has_news()) wake();
    }

    void on_status() override { on_status_change(); }

    // --- delivery ---------------------------------------------------------------------------

    bool has_news() const override { return state_ || !pending_.empty(); }

    DiffPtr take_news() override {
        if (state_) return std::exchange(state_, nullptr);
        return std::make_shared<const TargetGroupDiff>(pending_.take());
    }

    void on_delivery() override {
        metrics_->diffs_delivered.fetch_add(1, std::memory_order_relaxed);
    }

    void call(const DiffPtr& diff) override { callback_(*diff); }

    const Role role_;
    const Callback callback_;
    const std::shared_ptr<Metrics> metrics_;

    // Guarded by the mutex.
    std::shared_ptr<GroupWatcher> watcher_;
    GroupWatcher::Subscription subscription_;
    DiffPtr state_;                   // until the host has been told of it
    detail::PendingChanges pending_;  // since then
};

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config, Callback callback) {
    detail::check_host_executor(executor, "Discoverer");
    detail::check_callback(callback, "Discoverer");
    impl_ = std::make_shared<Impl>(executor, config, std::move(callback));
}

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config) {
    detail::check_host_executor(executor, "Discoverer");
    impl_ = std::make_shared<Impl>(executor, config, nullptr);
}

Discoverer& Discoverer::operator=(Discoverer&& other) noexcept {
    if (this != &other) {
        cancel();
        impl_ = std::move(other.impl_);
    }
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
