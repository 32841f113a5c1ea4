#pragma once

#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_groups.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class ProviderSubscription;

/// A discovery configuration run by a DiscoveryManager for any number of jobs, and its present
/// targets. Owned by the subscriptions of the jobs.
///
/// Guarded by the mutex of its observer; the strand of the feed locks it once for each event.
class Provider final : public GroupWatcher::Observer,
                       public std::enable_shared_from_this<Provider> {
 public:
    /// Notified of changes of a provider. Called under the mutex.
    class Observer {
     public:
        virtual std::mutex& mutex() noexcept = 0;
        virtual void on_ready(Provider&) = 0;
        virtual void on_changes(Provider&) = 0;

     protected:
        ~Observer() = default;
    };

    Provider(ProviderId id, std::unique_ptr<TargetFeed> feed, std::shared_ptr<Metrics> metrics,
             std::weak_ptr<Observer> observer)
        : id_(id),
          feed_(std::move(feed)),
          metrics_(std::move(metrics)),
          observer_(std::move(observer)) {
        ++metrics_->providers;
    }
    ~Provider() { --metrics_->providers; }
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;

    ProviderId id() const noexcept { return id_; }
    void start() { feed_->start(weak_from_this()); }
    DiscovererStatus status() const { return feed_->status(); }
    /// One of its configurations was applied again.
    void recheck() { feed_->recheck(); }

    bool ready() const noexcept { return ready_; }
    /// The targets come from a snapshot.
    bool unconfirmed() const noexcept { return unconfirmed_; }
    const TargetGroups& targets() const noexcept { return targets_; }
    /// The changes from now on. Subscribers with the same delivered state share it: each change is
    /// recorded once for all of them, not once for each job.
    std::shared_ptr<const PendingChanges> changes_from_now() {
        if (!pending_.empty()) {
            if (auto newest = pending_.back().lock(); newest && newest->empty()) return newest;
        }
        auto pending = std::make_shared<PendingChanges>();
        pending_.push_back(pending);
        return pending;
    }

    const std::vector<ProviderSubscription*>& subscribers() const noexcept { return subscribers_; }
    void add(ProviderSubscription& subscriber) { subscribers_.push_back(&subscriber); }
    void remove(ProviderSubscription& subscriber) { std::erase(subscribers_, &subscriber); }

 private:
    void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) override {
        const auto observer = observer_.lock();
        if (!observer) return;
        const std::lock_guard lock(observer->mutex());
        targets_.apply(*state);
        ready_ = true;
        unconfirmed_ = state->unconfirmed;
        observer->on_ready(*this);
    }
    void on_changes(const std::vector<GroupChange>& changes) override {
        const auto observer = observer_.lock();
        if (!observer) return;
        const std::lock_guard lock(observer->mutex());
        apply(changes);
        observer->on_changes(*this);
    }
    void on_confirmed() override {
        const auto observer = observer_.lock();
        if (!observer) return;
        const std::lock_guard lock(observer->mutex());
        unconfirmed_ = false;
        observer->on_ready(*this);
    }
    void apply(const std::vector<GroupChange>& changes) {
        for (const GroupChange& change : changes) targets_.apply(change);
        std::erase_if(pending_, [](const auto& pending) { return pending.expired(); });
        for (const auto& weak : pending_) {
            const auto pending = weak.lock();
            for (const GroupChange& change : changes) pending->add(change);
        }
    }

    const ProviderId id_;
    const std::unique_ptr<TargetFeed> feed_;
    const std::shared_ptr<Metrics> metrics_;
    const std::weak_ptr<Observer> observer_;
    bool ready_ = false;
    bool unconfirmed_ = false;
    TargetGroups targets_;
    std::vector<std::weak_ptr<PendingChanges>> pending_;
    std::vector<ProviderSubscription*> subscribers_;
};

}  // namespace k8s_sd::inline v0::detail
