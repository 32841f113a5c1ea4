#pragma once

#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/groups/discoverer_status.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_groups.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class ProviderSubscription;

/// One discovery configuration that a DiscoveryManager runs for any number of jobs, with the
/// targets it has found. Its parts are those of the jobs.
///
/// Guarded by the manager's mutex, but the members of Subscriber, which collect what happens in
/// one turn of the group's strand and hand it over once.
class Provider final : public GroupWatcher::Subscriber,
                       public std::enable_shared_from_this<Provider> {
 public:
    /// Called on the group's strand, without the manager's mutex.
    class Observer {
     public:
        virtual void on_ready(Provider&, const TargetGroupDiff& full) = 0;
        virtual void on_changes(Provider&, const std::vector<GroupChange>&) = 0;

     protected:
        ~Observer() = default;
    };

    Provider(ProviderId id, Role role, std::shared_ptr<GroupWatcher> group,
             std::weak_ptr<Observer> observer)
        : id_(id), role_(role), group_(std::move(group)), observer_(std::move(observer)) {
        ++group_->environment().metrics->providers;
    }
    ~Provider() { --group_->environment().metrics->providers; }
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;

    ProviderId id() const noexcept { return id_; }
    void start() {
        if (!subscription_) subscription_ = group_->subscribe(role_, weak_from_this());
    }
    DiscovererStatus status() const {
        return discoverer_status(subscription_ ? group_->status(role_)
                                               : std::vector<WatchStatus>());
    }

    bool ready() const noexcept { return ready_; }
    const TargetGroups& targets() const noexcept { return targets_; }
    void set_ready(const TargetGroupDiff& full) {
        targets_.apply(full);
        ready_ = true;
    }
    void apply(const std::vector<GroupChange>& changes) {
        for (const GroupChange& change : changes) targets_.apply(change);
        std::erase_if(pending_, [](const auto& pending) { return pending.expired(); });
        for (const auto& weak : pending_) {
            const auto pending = weak.lock();
            for (const GroupChange& change : changes) pending->add(change);
        }
    }
    /// What will change from now on. Parts that were told the same have it in common: a change is
    /// written down once for all of them, not once for each job.
    std::shared_ptr<const PendingChanges> changes_from_now() {
        if (!pending_.empty()) {
            if (auto newest = pending_.back().lock(); newest && newest->empty()) return newest;
        }
        auto pending = std::make_shared<PendingChanges>();
        pending_.push_back(pending);
        return pending;
    }

    const std::vector<ProviderSubscription*>& parts() const noexcept { return parts_; }
    void add(ProviderSubscription& part) { parts_.push_back(&part); }
    void remove(ProviderSubscription& part) { std::erase(parts_, &part); }

 private:
    void on_ready() override {
        const auto observer = observer_.lock();
        if (!observer) return;
        TargetGroupDiff full;
        full.full = true;
        group_->for_each_group(role_, [&](const TargetGroupPtr& group) {
            full.updated.push_back({group, nullptr, false});
        });
        observer->on_ready(*this, full);
    }
    void on_group(const GroupChange& change) override { changes_.push_back(change); }
    void on_batch_end() override {
        const auto changes = std::exchange(changes_, {});
        const auto observer = observer_.lock();
        if (observer && !changes.empty()) observer->on_changes(*this, changes);
    }

    const ProviderId id_;
    const Role role_;
    const std::shared_ptr<GroupWatcher> group_;
    const std::weak_ptr<Observer> observer_;
    GroupWatcher::Subscription subscription_;
    bool ready_ = false;
    TargetGroups targets_;
    std::vector<std::weak_ptr<PendingChanges>> pending_;
    std::vector<ProviderSubscription*> parts_;
    std::vector<GroupChange> changes_;  // of the strand
};

}  // namespace k8s_sd::inline v0::detail
