#include "k8s_sd/detail/base/delivery.hpp"
#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/base/operation.hpp"
#include "k8s_sd/detail/base/waiting_time.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/groups/discoverer_status.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

using detail::Delivery;
using detail::RunOperation;

namespace {

constexpr int diffs_per_turn = 1;

std::shared_ptr<GroupWatcher> acquire_watcher(const asio::any_io_executor& executor,
                                              const DiscoveryConfig& config) {
    const auto& files = detail::ContextEnvironment::of(executor).in_cluster();
    return GroupWatcher::acquire(executor, resolve(config, files));
}

}  // namespace

/// The state behind a handle. The callback is called without `mutex_`.
class Discoverer::Impl final : public GroupWatcher::Observer,
                               public Delivery::Source,
                               public std::enable_shared_from_this<Impl> {
 public:
    Impl(executor_type executor, const DiscoveryConfig& config, Callback callback)
        : executor_(std::move(executor)),
          role_(config.role),
          callback_(std::move(callback)),
          watcher_(acquire_watcher(executor_, config)),
          metrics_(watcher_->environment().metrics),
          delivery_(executor_, watcher_->get_executor(), watcher_->environment().clock,
                    diffs_per_turn),
          pace_(config.min_update_interval),
          waiting_(watcher_->environment().clock, metrics_) {}

    const executor_type& executor() const noexcept { return executor_; }

    void run(RunOperation::Handler handler) {
        auto operation =
            std::make_unique<RunOperation>(std::move(handler), executor_, weak_from_this());
        const std::lock_guard lock(mutex_);
        if (operation_) {
            return RunOperation::complete(std::move(operation), asio::error::already_started);
        }
        if (delivery_.cancelled()) {
            return RunOperation::complete(std::move(operation), asio::error::operation_aborted);
        }
        operation_ = std::move(operation);
        subscription_ = watcher_->subscribe(role_, weak_from_this());
    }

    void cancel() noexcept {
        const auto self = shared_from_this();
        if (!delivery_.cancel(self)) return;
        std::unique_ptr<RunOperation> operation;
        {
            const std::lock_guard lock(mutex_);
            // By post: a discoverer that takes the place of this one may run a turn later, and is
            // to find the watches.
            asio::post(
                watcher_->get_executor(),
                [subscription = std::move(subscription_)]() mutable { subscription.reset(); });
            watcher_.reset();
            state_.reset();
            pending_.clear();
            operation = std::move(operation_);
        }
        // Without the mutex: a context that ends destroys the handler at once, and with it perhaps
        // what calls this object.
        if (operation) {
            RunOperation::complete(std::move(operation), asio::error::operation_aborted);
        }
    }

    DiscovererStatus status() const {
        const std::lock_guard lock(mutex_);
        return detail::discoverer_status(subscription_.status());
    }

 private:
    // --- what the watcher finds -------------------------------------------------------------

    void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) override {
        const std::lock_guard lock(mutex_);
        if (delivery_.cancelled()) return;
        state_ = state;
        waiting_.note(true);
        delivery_.wake(shared_from_this());
    }

    void on_changes(const std::vector<GroupChange>& changes) override {
        const std::lock_guard lock(mutex_);
        if (delivery_.cancelled()) return;
        const bool had_news = has_news();
        for (const GroupChange& change : changes) pending_.add(change);
        waiting_.note(has_news());
        // With news already, the call is on its way or waits for its time.
        if (!had_news && has_news()) delivery_.wake(shared_from_this());
    }

    // --- delivery ---------------------------------------------------------------------------

    bool tell_next(TimePoint now) override {
        const auto diff = take_due(now);
        if (!diff || delivery_.cancelled()) return false;
        metrics_->diffs_delivered.fetch_add(1, std::memory_order_relaxed);
        callback_(*diff);
        return true;
    }

    std::optional<TimePoint> next_due(TimePoint now) override {
        const std::lock_guard lock(mutex_);
        if (!has_news()) return std::nullopt;
        return pace_.due(now);
    }

    std::shared_ptr<const TargetGroupDiff> take_due(TimePoint now) {
        const std::lock_guard lock(mutex_);
        if (!has_news() || pace_.due(now) > now) return nullptr;
        pace_.called(now);
        auto diff = state_ ? std::exchange(state_, nullptr)
                           : std::make_shared<const TargetGroupDiff>(pending_.take());
        waiting_.told(now, has_news());
        return diff;
    }

    bool has_news() const { return state_ || !pending_.empty(); }

    const executor_type executor_;
    const Role role_;
    const Callback callback_;

    mutable std::mutex mutex_;  // guards what changes
    std::shared_ptr<GroupWatcher> watcher_;
    const std::shared_ptr<Metrics> metrics_;
    Delivery delivery_;
    std::unique_ptr<RunOperation> operation_;
    GroupWatcher::Subscription subscription_;
    std::shared_ptr<const TargetGroupDiff> state_;  // until the host has been told of it
    detail::PendingChanges pending_;                // since then
    detail::Pace pace_;
    detail::WaitingTime waiting_;  // of state_ and pending_
};

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config, Callback callback) {
    detail::check_host_executor(executor, "Discoverer");
    detail::check_callback(callback, "Discoverer");
    impl_ = std::make_shared<Impl>(std::move(executor), config, std::move(callback));
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

void Discoverer::run(const std::shared_ptr<Impl>& impl, RunOperation::Handler handler) {
    impl->run(std::move(handler));
}

void Discoverer::cancel() noexcept {
    if (impl_) impl_->cancel();
}

DiscovererStatus Discoverer::status() const { return impl_->status(); }

}  // namespace k8s_sd::inline v0
