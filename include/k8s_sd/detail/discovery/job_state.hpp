#pragma once

#include "k8s_sd/detail/async/delivery.hpp"
#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/discovery/provider.hpp"
#include "k8s_sd/detail/discovery/target_feed.hpp"
#include "k8s_sd/discovery_manager.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

class JobState;

/// A job's use of one provider, with the undelivered changes. Its memory does not grow with the
/// number of groups.
class ProviderSubscription {
 public:
    enum class Standing {
        wanted,      ///< in the job's configuration
        superseded,  ///< removed, but its successor has no state yet
        going        ///< removed, but the host has not been notified yet
    };

    /// \param cluster  its name; empty: none
    ProviderSubscription(JobState& job, std::shared_ptr<Provider> provider, std::string cluster)
        : job_(job), provider_(std::move(provider)), cluster_(std::move(cluster)) {
        provider_->add(*this);
    }
    ~ProviderSubscription() {
        if (filtered_) provider_->remove(*filtered_);
        provider_->remove(*this);
    }
    ProviderSubscription(const ProviderSubscription&) = delete;
    ProviderSubscription& operator=(const ProviderSubscription&) = delete;

    JobState& job() const noexcept { return job_; }
    const std::shared_ptr<Provider>& provider() const noexcept { return provider_; }
    const std::string& cluster() const noexcept { return cluster_; }
    /// Whether its groups belong to the job's state.
    bool counts() const noexcept { return standing != Standing::going && provider_->ready(); }
    /// Whether its targets have been delivered to the host.
    bool delivered() const noexcept { return delivered_; }
    /// It was removed before anything was delivered.
    bool idle() const noexcept { return standing == Standing::going && !delivered(); }

    bool has_news() const noexcept {
        if (standing == Standing::going) return delivered();
        if (!delivered()) return provider_->ready();
        return !pending().empty() || is_to_confirm() || delivered_all_ != is_filtered();
    }
    /// Whether another filter has changed the groups of the host, which has received some.
    bool has_filter_news() const noexcept {
        if (standing == Standing::going || !delivered()) return false;
        const bool is_filled = filtered_ && filtered_->filled && !filtered_->pending.empty();
        return is_filled || delivered_all_ != is_filtered();
    }
    /// Makes the diff of the changes. \pre has_news()
    ProviderDiff prepare();
    /// The host receives the prepared diff.
    void commit() noexcept;

    /// Call Provider::fill() after it, and after construction.
    void set_filter(const TargetFilter&);
    bool is_filtered() const noexcept { return filtered_ && !filtered_->filter.empty(); }
    /// Null: all groups.
    const TargetFilter* filter() const noexcept {
        return is_filtered() ? &filtered_->filter : nullptr;
    }

    void want() noexcept {
        standing = Standing::wanted;
        superseded_at_.reset();
    }
    void supersede(TimePoint now) noexcept {
        standing = Standing::superseded;
        superseded_at_ = now;
    }
    /// Its successor, although listed, was removed again: the original timeout continues.
    void supersede_again() noexcept {
        if (standing == Standing::going && superseded_at_) standing = Standing::superseded;
    }
    /// The time of superseding. \pre it is superseded
    TimePoint superseded_at() const noexcept { return *superseded_at_; }

    Standing standing = Standing::wanted;

 private:
    const PendingChanges& pending() const noexcept {
        return filtered_ ? filtered_->pending : *pending_;
    }
    TargetGroupDiff prepare_groups();
    bool ends_filter() const noexcept { return filtered_ && !is_filtered(); }
    void end_filter() noexcept;

    /// The host received the targets of a snapshot, and they are now confirmed.
    bool is_to_confirm() const noexcept {
        return delivered_unconfirmed_ && !provider_->unconfirmed();
    }

    JobState& job_;
    const std::shared_ptr<Provider> provider_;
    const std::string cluster_;
    bool delivered_ = false;
    std::shared_ptr<const PendingChanges> pending_;  // null: nothing was delivered, or filtered_
    std::unique_ptr<FilteredChanges> filtered_;      // null: no filter
    std::shared_ptr<const PendingChanges> next_;     // those after the prepared diff
    bool delivered_unconfirmed_ = false;
    bool delivered_all_ = false;  // the host has ProviderDiff::all
    std::optional<TimePoint> superseded_at_{};
};

/// One job: its configurations and its stream of diffs. Decides which providers a new configuration
/// keeps, adds and removes. Guarded by the manager's mutex.
class JobState {
 public:
    /// One of the configurations of a job.
    struct ProviderEntry {
        TargetOrigin origin{};
        std::shared_ptr<Provider> provider{};              ///< null: it is unusable
        std::shared_ptr<const ProviderConfig> unusable{};  ///< else null: it takes much memory
        std::string problem{};                             ///< why it is unusable
        std::string cluster{};                             ///< its name; empty: none
        /// It replaces other configurations; these remain until it has been listed.
        bool awaited = false;
    };

    explicit JobState(std::string name) : name_(std::move(name)) {}
    const std::string& name() const noexcept { return name_; }
    const std::vector<std::unique_ptr<ProviderSubscription>>& subscriptions() const noexcept {
        return subscriptions_;
    }

    /// Settings of a job common to all its configurations.
    struct Times {
        Duration interval{0};  ///< between two diffs
        std::optional<Duration> supersede_timeout{};
    };

    /// Replaces the configurations.
    void configure(std::vector<ProviderEntry>, const TargetFilter&, const Times&, TimePoint now);
    /// Number of unusable configurations.
    std::size_t unusable() const noexcept;
    /// The job was removed.
    void end();
    bool ended() const noexcept { return ended_; }
    /// Whether a diff of the job has been delivered.
    bool begun() const noexcept { return pace_.begun(); }

    /// A provider of a subscription has become ready.
    void on_ready(const Provider&);

    /// When the first superseded configuration times out.
    std::optional<TimePoint> supersede_end() const;
    /// Ends the superseded configurations due by now.
    void end_superseded(TimePoint now);

    bool has_news() const;
    /// When the news may be delivered.
    TimePoint due(TimePoint now) const;
    /// Takes the diff, without the name; after an exception all news are left. \pre has_news()
    JobDiff take(TimePoint now);
    /// Whether the host still holds its last diff; see JobDiff::delivery.
    bool busy() const noexcept { return !delivery_.expired(); }
    void begin_delivery(const std::shared_ptr<const void>& delivery) noexcept {
        delivery_ = delivery;
    }

    JobStatus status() const;
    JobSnapshot snapshot() const;
    std::vector<ProviderId> providers() const;

 private:
    std::optional<TimePoint> supersede_end(const ProviderSubscription&) const;
    void take_standing(bool added, TimePoint now);
    void end_clusters_of(const std::vector<ProviderEntry>& previous);
    bool uses(const Provider&) const;
    bool subscribes_to(const Provider&) const;
    const ProviderEntry* find_same(const ProviderEntry&) const;
    bool adopt(std::vector<ProviderEntry>&) const;
    /// By the names of its clusters, whether one of their configurations is awaited; with an empty
    /// name: whether any is. The keys live as long as the configurations.
    std::unordered_map<std::string_view, bool> awaited_clusters() const;
    void release_superseded();

    const std::string name_;
    std::vector<ProviderEntry> entries_;
    std::vector<std::unique_ptr<ProviderSubscription>> subscriptions_;
    Pace pace_;
    std::optional<Duration> supersede_timeout_;
    std::weak_ptr<const void> delivery_;
    bool ended_ = false;
};

}  // namespace k8s_sd::inline v0::detail
