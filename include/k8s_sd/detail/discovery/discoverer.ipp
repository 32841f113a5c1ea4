#include "k8s_sd/detail/base/due_time.hpp"
#include "k8s_sd/detail/base/operation.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/groups/discoverer_status.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0 {

using detail::RunOperation;

namespace {

std::shared_ptr<GroupWatcher> acquire_group(const asio::any_io_executor& executor,
                                            const DiscoveryConfig& config) {
    const auto& files = detail::ContextEnvironment::of(executor).in_cluster();
    return GroupWatcher::acquire(executor, resolve(config, files));
}

}  // namespace

/// The state behind a handle. Confined to the group's strand, except where noted.
class Discoverer::Impl final : public GroupWatcher::Subscriber,
                               public std::enable_shared_from_this<Impl> {
 public:
    Impl(executor_type executor, const DiscoveryConfig& config, Callback callback)
        : executor_(std::move(executor)),
          delivery_(asio::make_strand(executor_)),
          role_(config.role),
          min_update_interval_(config.min_update_interval),
          group_(acquire_group(executor_, config)),
          strand_(group_->get_executor()),
          clock_(group_->environment().clock),
          metrics_(group_->environment().metrics),
          callback_(std::move(callback)) {}

    const executor_type& executor() const noexcept { return executor_; }

    // Any thread.
    void run(RunOperation::Handler handler) {
        auto operation =
            std::make_unique<RunOperation>(std::move(handler), executor_, weak_from_this());
        asio::dispatch(strand_, [self = shared_from_this(), op = std::move(operation)]() mutable {
            self->start(std::move(op));
        });
    }

    // Any thread.
    void cancel() noexcept {
        if (cancelled_.exchange(true)) return;
        // By post, so that a discoverer which is made and run next subscribes before this one
        // unsubscribes.
        asio::post(strand_, [self = shared_from_this()] { self->stop(); });
    }

    // Any thread.
    DiscovererStatus status() const {
        const std::lock_guard lock(status_mutex_);
        if (!status_group_) return {};
        return detail::discoverer_status(status_group_->status(role_));
    }

 private:
    void start(std::unique_ptr<RunOperation> operation) {
        if (operation_) {
            return RunOperation::complete(std::move(operation), asio::error::already_started);
        }
        if (cancelled_) {
            return RunOperation::complete(std::move(operation), asio::error::operation_aborted);
        }
        operation_ = std::move(operation);
        timer_ = clock_->make_timer(strand_);
        subscription_ = group_->subscribe(role_, weak_from_this());
        const std::lock_guard lock(status_mutex_);
        status_group_ = group_.get();
    }

    void stop() {
        {
            const std::lock_guard lock(status_mutex_);
            status_group_ = nullptr;
        }
        subscription_.reset();
        group_.reset();
        timer_.reset();
        pending_.clear();
        if (operation_) {
            RunOperation::complete(std::move(operation_), asio::error::operation_aborted);
        }
    }

    void on_ready() override {
        ready_ = true;
        deliver();
    }
    void on_group(const GroupChange& change) override {
        // What comes before the complete state was taken is in it.
        if (complete_taken_) pending_.add(change);
    }
    void on_batch_end() override { deliver(); }

    void deliver() {
        if (delivering_ || cancelled_ || !ready_ || !subscription_) return;
        if (complete_taken_ && pending_.empty()) return;
        if (complete_taken_ && min_update_interval_ > Duration{}) {
            const TimePoint due = detail::due_after(last_delivery_, min_update_interval_);
            if (clock_->now() < due) {
                return timer_->expires_at(due, [weak = weak_from_this()] {
                    if (auto self = weak.lock()) self->deliver();
                });
            }
        }
        delivering_ = true;
        last_delivery_ = clock_->now();
        asio::post(delivery_, [self = shared_from_this(), diff = take()] { self->call(diff); });
    }

    TargetGroupDiff take() {
        if (std::exchange(complete_taken_, true)) return pending_.take();
        TargetGroupDiff diff;
        diff.full = true;
        group_->for_each_group(role_, [&](const TargetGroupPtr& group) {
            diff.updated.push_back({group, nullptr, false});
        });
        return diff;
    }

    // On the delivery strand.
    void call(const TargetGroupDiff& diff) {
        struct Acknowledge {
            std::shared_ptr<Impl> self;
            ~Acknowledge() {
                const auto strand = self->strand_;
                asio::dispatch(strand, [impl = std::move(self)] {
                    impl->delivering_ = false;
                    impl->deliver();
                });
            }
        };
        if (cancelled_) return;
        const Acknowledge acknowledge{shared_from_this()};
        metrics_->diffs_delivered.fetch_add(1, std::memory_order_relaxed);
        callback_(diff);
    }

    executor_type executor_;
    asio::strand<executor_type> delivery_;
    Role role_;
    Duration min_update_interval_;
    std::shared_ptr<GroupWatcher> group_;
    asio::any_io_executor strand_;
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<Metrics> metrics_;
    Callback callback_;
    std::atomic<bool> cancelled_ = false;

    std::unique_ptr<RunOperation> operation_;
    GroupWatcher::Subscription subscription_;
    std::unique_ptr<Timer> timer_;
    detail::PendingChanges pending_;
    bool ready_ = false;
    bool complete_taken_ = false;
    bool delivering_ = false;
    TimePoint last_delivery_{};

    mutable std::mutex status_mutex_;
    const GroupWatcher* status_group_ = nullptr;  // guarded by the mutex
};

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config, Callback callback)
    : impl_(std::make_shared<Impl>(std::move(executor), config, std::move(callback))) {}

Discoverer& Discoverer::operator=(Discoverer&& other) noexcept {
    if (this != &other) {
        cancel();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

Discoverer::~Discoverer() { cancel(); }

Discoverer::executor_type Discoverer::get_executor() const noexcept { return impl_->executor(); }
Discoverer::executor_type Discoverer::executor_of(const Impl& impl) noexcept {
    return impl.executor();
}

void Discoverer::run(const std::shared_ptr<Impl>& impl, RunOperation::Handler handler) {
    impl->run(std::move(handler));
}

void Discoverer::cancel() noexcept {
    if (impl_) impl_->cancel();
}

DiscovererStatus Discoverer::status() const { return impl_->status(); }

}  // namespace k8s_sd::inline v0
