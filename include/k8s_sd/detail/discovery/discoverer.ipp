#include "k8s_sd/detail/async/host_handle.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/discovery/diff_parts.hpp"
#include "k8s_sd/detail/discovery/kubernetes_feed.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
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

std::unique_ptr<detail::KubernetesFeed> make_kubernetes_feed(const asio::any_io_executor& executor,
                                                             const DiscoveryConfig& config,
                                                             const WarmStart& warm_start) {
    if (!warm_start.directory.empty()) validate(warm_start);
    return std::make_unique<detail::KubernetesFeed>(
        executor,
        detail::KubernetesTargets{
            resolve(config, detail::ContextEnvironment::of(executor).in_cluster()), config.role},
        warm_start);
}

}  // namespace

class Discoverer::Impl final : public HostHandle<DiffPtr>, public GroupWatcher::Observer {
 public:
    /// \throws ConfigError
    Impl(const executor_type& executor, const DiscoveryConfig& config, Callback callback,
         const WarmStart& warm_start)
        : Impl(executor, config, std::move(callback),
               make_kubernetes_feed(executor, config, warm_start)) {}

    DiscovererStatus status() const override {
        const std::lock_guard lock(mutex_);
        return feed_ ? feed_->status() : idle_status_;
    }

 private:
    Impl(const executor_type& executor, const DiscoveryConfig& config, Callback callback,
         std::unique_ptr<detail::KubernetesFeed> feed)
        : HostHandle(executor, feed->watcher().get_executor(), feed->watcher().environment().clock,
                     feed->watcher().environment().metrics, config.min_update_interval,
                     callback != nullptr),
          max_groups_(config.max_groups_per_diff),
          callback_(std::move(callback)),
          metrics_(feed->watcher().environment().metrics),
          strand_(feed->watcher().get_executor()),
          idle_status_(feed->status()),
          feed_(std::move(feed)) {}

    void begin() override { feed_->start(self_as<GroupWatcher::Observer>(this)); }

    void end() noexcept override {
        // Post the release: a discoverer that replaces this one may be started by a later handler,
        // and should find the watches alive. Releasing large diffs takes long.
        remains_->feed.swap(feed_);
        std::swap(remains_->parts, parts_);
        remains_->state.swap(state_);
        post_end(strand_, [remains = remains_] { *remains = {}; });
        pending_.clear();
        confirms_ = false;
    }

    // --- events of the watcher --------------------------------------------------------------

    void on_ready(const DiffPtr& state) override {
        {
            const std::lock_guard lock(mutex_);
            if (cancelled()) return;
            state_ = state;
        }
        detail::FirstException problem;
        problem.catch_from([&] { deliver_later(); });
        // A snapshot is not a confirmed state.
        problem.catch_from([&] { state->unconfirmed ? on_status_change() : on_first_state(); });
        problem.rethrow();
    }

    void on_confirmed() override {
        {
            const std::lock_guard lock(mutex_);
            if (cancelled()) return;
            confirms_ = true;
        }
        detail::FirstException problem;
        problem.catch_from([&] { deliver_later(); });
        problem.catch_from([&] { on_first_state(); });
        problem.rethrow();
    }

    void deliver_later() {
        const std::lock_guard lock(mutex_);
        note_changes();
        wake();
    }

    void on_changes(const std::vector<GroupChange>& changes) override {
        const std::lock_guard lock(mutex_);
        if (cancelled()) return;
        const bool had_news = has_news();
        for (const GroupChange& change : changes) pending_.add(change);
        note_changes();
        // With news already pending, a delivery is scheduled, unless that has failed.
        if (has_news() && (!had_news || missed_delivery())) wake();
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
        const auto diff = std::make_shared<TargetGroupDiff>();
        *diff = pending_.take();  // after the allocation: it forgets the changes
        diff->confirms = std::exchange(confirms_, false);
        parts_.begin_own(diff);
    }

    /// In a handler of its own. Without memory for one, at once: the host must receive the part.
    void release(DiffPtr diff) noexcept {
        try {
            asio::post(strand_, [released = std::move(diff)] {});
        } catch (const std::exception&) {
        }
    }

    void on_delivery() override {
        metrics_->diffs_delivered.fetch_add(1, std::memory_order_relaxed);
    }

    void call(const DiffPtr& diff) override { callback_(*diff); }

    /// What is released on the strand of the watcher after the end.
    struct Remains {
        std::unique_ptr<detail::KubernetesFeed> feed{};
        detail::DiffParts parts{};
        DiffPtr state{};
    };

    const std::size_t max_groups_;  // in a diff; zero: no limit
    const Callback callback_;
    const std::shared_ptr<Remains> remains_ = std::make_shared<Remains>();  // end() has no memory
    const std::shared_ptr<Metrics> metrics_;
    const asio::any_io_executor strand_;  // of the watcher
    const DiscovererStatus idle_status_;  // before the start and after the end

    // Guarded by the mutex.
    std::unique_ptr<detail::KubernetesFeed> feed_;  // null: it has ended
    detail::DiffParts parts_;         // the rest of the diff that the host is receiving
    DiffPtr state_;                   // until it is delivered
    detail::PendingChanges pending_;  // changes since the state was delivered
    bool confirms_ = false;           // the state of a snapshot has been confirmed
};

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config, Callback callback,
                       const WarmStart& warm_start) {
    detail::check_host_executor(executor, "Discoverer");
    detail::check_callback(callback, "Discoverer");
    impl_ = std::make_shared<Impl>(executor, config, std::move(callback), warm_start);
}

Discoverer::Discoverer(executor_type executor, const DiscoveryConfig& config,
                       const WarmStart& warm_start) {
    detail::check_host_executor(executor, "Discoverer");
    impl_ = std::make_shared<Impl>(executor, config, nullptr, warm_start);
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
