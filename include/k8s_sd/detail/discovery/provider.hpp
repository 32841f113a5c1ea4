#pragma once

#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/discovery/filter_index.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_filter.hpp"
#include "k8s_sd/target_groups.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class ProviderSubscription;

/// The undelivered changes of the groups that pass a job's filter.
struct FilteredChanges : FilterOwner {
    explicit FilteredChanges(ProviderSubscription& user) : subscriber(user) {}
    ProviderSubscription& subscriber;
    PendingChanges pending{};
    bool filled = false;  ///< another filter has added some of them
};

/// Finds the subscribers with an undelivered removal of a group.
class UndeliveredRemovals {
 public:
    /// Adds the change to those of the subscriber.
    void add(FilteredChanges&, const GroupChange&);
    /// A new subscriber may have changes.
    void insert(FilteredChanges&);
    /// Call it before the changes are taken.
    void erase(FilteredChanges&) noexcept;
    /// Whether any subscriber has a removal of this group, almost surely.
    bool contains(std::string_view source) const noexcept {
        return !sources_.empty() && sources_.contains(SeededHash()(source));
    }
    /// All that have removals, and perhaps some others.
    const boost::unordered_flat_set<FilteredChanges*>& subscribers() const noexcept {
        return subscribers_;
    }

 private:
    void count(FilteredChanges&, std::string_view source);
    void discount(std::string_view source) noexcept;

    boost::unordered_flat_set<FilteredChanges*> subscribers_;
    boost::unordered_flat_map<std::size_t, std::size_t> sources_;  // removals by hash of the source
};

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
        /// \param concerned  those with filters whose groups have changed; all others are concerned
        virtual void on_changes(Provider&, const std::vector<ProviderSubscription*>& concerned) = 0;

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
    /// Jobs with a filter receive them, too.
    const std::shared_ptr<const LiveTargets>& targets() const noexcept { return targets_; }
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

    // Subscribers with a filter. Each object must be removed before its end.
    /// \param has_state  the changes begin now, without the present groups; else call fill()
    void add(FilteredChanges&, bool has_state);
    void remove(FilteredChanges&) noexcept;
    /// Call fill() after it.
    void change_filter(FilteredChanges&, const TargetFilter&);
    /// Allocates what end_filter() needs.
    void prepare_end_of_filter();
    /// The subscriber receives all groups from now on. \pre prepare_end_of_filter()
    void end_filter(FilteredChanges&) noexcept;
    /// Adds the present groups to the changes of new subscribers, and those of changed filters to
    /// the changes of others, in one pass for all of them.
    void fill();
    /// The changes are delivered.
    void forget_changes(FilteredChanges&) noexcept;

    const std::vector<ProviderSubscription*>& subscribers() const noexcept { return subscribers_; }
    /// Those without a FilteredChanges.
    const std::vector<ProviderSubscription*>& unfiltered() const noexcept { return unfiltered_; }
    void add(ProviderSubscription& subscriber) {
        unfiltered_.push_back(&subscriber);
        subscribers_.push_back(&subscriber);
    }
    void remove(ProviderSubscription& subscriber) noexcept {
        std::erase(unfiltered_, &subscriber);
        std::erase(subscribers_, &subscriber);
    }

 private:
    void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) override {
        const auto observer = observer_.lock();
        if (!observer) return;
        const std::lock_guard lock(observer->mutex());
        live_->write([&](TargetGroups& groups) { groups.apply(*state); });
        ready_ = true;
        fill();
        unconfirmed_ = state->unconfirmed;
        observer->on_ready(*this);
    }
    void on_changes(const std::vector<GroupChange>& changes) override {
        const auto observer = observer_.lock();
        if (!observer) return;
        const std::lock_guard lock(observer->mutex());
        observer->on_changes(*this, apply(changes));
    }
    void on_confirmed() override {
        const auto observer = observer_.lock();
        if (!observer) return;
        const std::lock_guard lock(observer->mutex());
        unconfirmed_ = false;
        observer->on_ready(*this);
    }
    /// \returns the subscribers with filters whose groups have changed
    std::vector<ProviderSubscription*> apply(const std::vector<GroupChange>& changes);
    void apply_filtered(const GroupChange&, std::vector<ProviderSubscription*>& concerned);

    const ProviderId id_;
    const std::unique_ptr<TargetFeed> feed_;
    const std::shared_ptr<Metrics> metrics_;
    const std::weak_ptr<Observer> observer_;
    bool ready_ = false;
    bool unconfirmed_ = false;
    const std::shared_ptr<LiveTargets> live_ = std::shared_ptr<LiveTargets>(new LiveTargets);
    const std::shared_ptr<const LiveTargets> targets_ = live_;
    std::vector<std::weak_ptr<PendingChanges>> pending_;
    std::vector<ProviderSubscription*> subscribers_;
    std::vector<ProviderSubscription*> unfiltered_;
    FilterIndex index_;
    // What fill() has to do; with the filter of the recorded changes, nullopt for a new subscriber.
    boost::unordered_flat_map<FilteredChanges*, std::optional<TargetFilter>> unfilled_;
    UndeliveredRemovals removals_;
};

}  // namespace k8s_sd::inline v0::detail
