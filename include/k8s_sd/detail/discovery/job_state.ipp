#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/discovery/job_state.hpp"
#include "k8s_sd/detail/groups/full_diff.hpp"

#include <algorithm>
#include <unordered_set>

namespace k8s_sd::inline v0::detail {

// --- subscription --------------------------------------------------------------------------------

ProviderDiff ProviderSubscription::prepare() {
    ProviderDiff news;
    news.provider = provider_->id();
    if (standing == Standing::going) {
        news.last = true;
        news.diff = provider_->targets()->read([&](const TargetGroups& groups) {
            return pending().get_removal(groups, [&](const TargetGroup& group) {
                return !filter() || filter()->passes_any(group);
            });
        });
        return news;
    }
    if (is_filtered()) news.all = provider_->targets();
    news.diff = prepare_groups();
    news.diff.confirms = delivered() && is_to_confirm();
    news.diff.unconfirmed = news.diff.full && provider_->unconfirmed();
    return news;
}

TargetGroupDiff ProviderSubscription::prepare_groups() {
    if (ends_filter()) provider_->prepare_end_of_filter();
    if (!is_filtered()) next_ = provider_->changes_from_now();
    if (filtered_) {
        TargetGroupDiff diff = filtered_->pending.get();
        diff.full = !delivered();
        return diff;
    }
    if (delivered()) return pending_->get();
    return provider_->targets()->read([](const auto& groups) { return full_diff(groups); });
}

void ProviderSubscription::commit() noexcept {
    if (standing == Standing::going) return;
    if (filtered_) provider_->forget_changes(*filtered_);
    if (ends_filter()) end_filter();
    if (!filtered_) pending_ = std::exchange(next_, nullptr);
    delivered_all_ = is_filtered();
    delivered_unconfirmed_ = provider_->unconfirmed();
    delivered_ = true;
}

void ProviderSubscription::set_filter(const TargetFilter& now) {
    if (!filtered_) {
        if (now.empty()) return;
        auto filtered = std::make_unique<FilteredChanges>(*this);
        if (delivered()) filtered->pending = *pending_;
        if (!delivered()) filtered->filter = now;
        provider_->add(*filtered, delivered());
        filtered_ = std::move(filtered);
        pending_.reset();
    }
    if (filtered_->filter != now) provider_->change_filter(*filtered_, now);
    // Else the filter ends with the next diff: that has the other groups.
    if (!now.empty() || delivered()) return;
    provider_->prepare_end_of_filter();
    end_filter();
}

/// \pre Provider::prepare_end_of_filter()
void ProviderSubscription::end_filter() noexcept {
    provider_->end_filter(*filtered_);
    filtered_.reset();
}

// --- configuration -------------------------------------------------------------------------------

void JobState::configure(std::vector<ProviderEntry> entries, const TargetFilter& filter,
                         const Times& times, TimePoint now) {
    const bool added = adopt(entries);
    entries_.swap(entries);
    pace_.set_interval(times.interval);
    supersede_timeout_ = times.supersede_timeout;
    ended_ = false;
    take_standing(added, now);
    if (!added) end_clusters_of(entries);
    for (const ProviderEntry& entry : entries_) {
        if (!entry.provider || subscribes_to(*entry.provider)) continue;
        subscriptions_.push_back(
            std::make_unique<ProviderSubscription>(*this, entry.provider, entry.cluster));
    }
    // Other providers keep their filter until they are removed.
    for (const auto& subscription : subscriptions_) {
        if (uses(*subscription->provider())) subscription->set_filter(filter);
    }
    release_superseded();
}

std::size_t JobState::unusable() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(),
                      [](const ProviderEntry& entry) { return entry.provider == nullptr; }));
}

void JobState::take_standing(bool added, TimePoint now) {
    using enum ProviderSubscription::Standing;
    bool undelivered_gone = false;
    for (const auto& subscription : subscriptions_) {
        if (uses(*subscription->provider())) {
            subscription->want();
        } else if (subscription->standing == wanted) {
            if (added && subscription->delivered()) {
                subscription->supersede(now);
            } else {
                // Undelivered targets must not be delivered under the new configuration.
                undelivered_gone = undelivered_gone || (added && subscription->provider()->ready());
                subscription->standing = going;
            }
        }
    }
    if (!undelivered_gone) return;
    for (const auto& subscription : subscriptions_) subscription->supersede_again();
}

// Nothing replaces the targets of clusters without any configuration now.
void JobState::end_clusters_of(const std::vector<ProviderEntry>& previous) {
    using enum ProviderSubscription::Standing;
    std::unordered_set<std::string_view> gone;
    for (const ProviderEntry& entry : previous) gone.insert(entry.cluster);
    for (const ProviderEntry& entry : entries_) gone.erase(entry.cluster);
    gone.erase(std::string_view());
    for (const auto& subscription : subscriptions_) {
        if (subscription->standing == superseded && gone.contains(subscription->cluster()))
            subscription->standing = going;
    }
}

// Sets `awaited` of each entry; returns whether any entry is new.
bool JobState::adopt(std::vector<ProviderEntry>& entries) const {
    bool added = false;
    for (ProviderEntry& entry : entries) {
        const ProviderEntry* known = find_same(entry);
        const bool listed =
            entry.provider && entry.provider->ready() && !entry.provider->unconfirmed();
        entry.awaited = known ? known->awaited : !listed;
        added = added || !known;
    }
    return added;
}

const JobState::ProviderEntry* JobState::find_same(const ProviderEntry& wanted) const {
    const auto same = [&](const ProviderEntry& entry) {
        if (entry.provider || wanted.provider) return entry.provider == wanted.provider;
        return *entry.unusable == *wanted.unusable;
    };
    const auto it = std::find_if(entries_.begin(), entries_.end(), same);
    return it == entries_.end() ? nullptr : &*it;
}

bool JobState::uses(const Provider& provider) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const ProviderEntry& entry) {
        return entry.provider.get() == &provider;
    });
}

bool JobState::subscribes_to(const Provider& provider) const {
    return std::any_of(subscriptions_.begin(), subscriptions_.end(), [&](const auto& subscription) {
        return subscription->provider().get() == &provider;
    });
}

void JobState::on_ready(const Provider& provider) {
    // A snapshot does not replace the state of other configurations.
    for (ProviderEntry& entry : entries_) {
        if (entry.provider.get() == &provider && !provider.unconfirmed()) entry.awaited = false;
    }
    release_superseded();
}

std::unordered_map<std::string_view, bool> JobState::awaited_clusters() const {
    constexpr std::string_view all;
    std::unordered_map<std::string_view, bool> awaited{{all, false}};
    for (const ProviderEntry& entry : entries_) {
        for (const std::string_view name : {all, std::string_view(entry.cluster)}) {
            bool& any = awaited[name];
            any = any || entry.awaited;
        }
    }
    return awaited;
}

void JobState::release_superseded() {
    using enum ProviderSubscription::Standing;
    bool any_left = false;
    std::unordered_map<std::string_view, bool> clusters;  // made once, if needed
    for (const auto& subscription : subscriptions_) {
        if (subscription->standing != superseded) continue;
        if (clusters.empty()) clusters = awaited_clusters();
        // A cluster that is away does not keep the replaced targets of others.
        const auto own = clusters.find(subscription->cluster());
        if (own == clusters.end() ? clusters.at({}) : own->second) {
            any_left = true;
        } else {
            subscription->standing = going;
        }
    }
    if (!any_left) {
        for (ProviderEntry& entry : entries_) entry.awaited = false;
    }
    std::erase_if(subscriptions_, [](const auto& subscription) { return subscription->idle(); });
}

std::optional<TimePoint> JobState::supersede_end(const ProviderSubscription& subscription) const {
    using enum ProviderSubscription::Standing;
    if (subscription.standing != superseded || !supersede_timeout_) return std::nullopt;
    return due_after(subscription.superseded_at(), *supersede_timeout_);
}

std::optional<TimePoint> JobState::supersede_end() const {
    std::optional<TimePoint> first;
    for (const auto& subscription : subscriptions_) {
        const auto end = supersede_end(*subscription);
        if (end && (!first || *end < *first)) first = end;
    }
    return first;
}

void JobState::end_superseded(TimePoint now) {
    for (const auto& subscription : subscriptions_) {
        const auto end = supersede_end(*subscription);
        if (end && *end <= now) subscription->standing = ProviderSubscription::Standing::going;
    }
    release_superseded();
}

void JobState::end() {
    entries_.clear();
    for (const auto& subscription : subscriptions_) {
        subscription->standing = ProviderSubscription::Standing::going;
    }
    std::erase_if(subscriptions_, [](const auto& subscription) { return subscription->idle(); });
    ended_ = true;
}

// --- delivery ------------------------------------------------------------------------------------

bool JobState::has_news() const {
    if (ended_) return begun();
    const auto usable = [](const ProviderEntry& entry) { return entry.provider != nullptr; };
    // A job without any usable configuration begins with an empty state.
    if (!begun() && std::none_of(entries_.begin(), entries_.end(), usable)) return true;
    return std::any_of(subscriptions_.begin(), subscriptions_.end(),
                       [](const auto& subscription) { return subscription->has_news(); });
}

TimePoint JobState::due(TimePoint now) const {
    // The rules have changed with the filter: the pool lacks the groups of the new ones.
    const bool has_filter_news =
        std::any_of(subscriptions_.begin(), subscriptions_.end(),
                    [](const auto& subscription) { return subscription->has_filter_news(); });
    return ended_ || has_filter_news ? now : pace_.due(now);
}

JobDiff JobState::take(TimePoint now) {
    JobDiff diff;
    diff.full = !begun();
    diff.last = ended_;
    for (const auto& subscription : subscriptions_) {
        if (subscription->has_news()) diff.providers.push_back(subscription->prepare());
    }
    for (const auto& subscription : subscriptions_) {
        if (subscription->has_news()) subscription->commit();
    }
    std::erase_if(subscriptions_, [](const auto& subscription) {
        return subscription->standing == ProviderSubscription::Standing::going;
    });
    pace_.called(now);
    return diff;
}

// --- status --------------------------------------------------------------------------------------

JobStatus JobState::status() const {
    JobStatus status;
    status.name = name_;
    status.synced = true;
    for (const ProviderEntry& entry : entries_) {
        JobConfigStatus& config = status.configs.emplace_back();
        config.origin = entry.origin;
        status.synced = status.synced && entry.provider && entry.provider->ready() &&
                        !entry.provider->unconfirmed();
        if (entry.provider) {
            config.provider = entry.provider->id();
            config.status = entry.provider->status();
            entry.provider->targets()->read([&](const TargetGroups& groups) {
                config.groups = groups.group_count();
                config.targets = groups.target_count();
            });
        } else {
            config.status.error = errc::invalid_config;
            config.status.message = entry.problem;
            if (const auto* discovery = std::get_if<DiscoveryConfig>(entry.unusable.get()))
                config.status.cluster = discovery->cluster.name;
        }
    }
    for (const auto& subscription : subscriptions_) {
        if (!subscription->counts()) continue;
        subscription->provider()->targets()->read([&](const TargetGroups& groups) {
            status.groups += groups.group_count();
            status.targets += groups.target_count();
        });
        const bool superseded =
            subscription->standing == ProviderSubscription::Standing::superseded;
        if (superseded) ++status.superseded;
    }
    return status;
}

std::vector<ProviderId> JobState::providers() const {
    std::vector<ProviderId> providers;
    for (const ProviderEntry& entry : entries_) {
        if (entry.provider) providers.push_back(entry.provider->id());
    }
    return providers;
}

JobSnapshot JobState::snapshot() const {
    JobSnapshot snapshot;
    for (const auto& subscription : subscriptions_) {
        if (!subscription->counts()) continue;
        JobSnapshot::ProviderTargets& provider = snapshot.providers.emplace_back();
        provider.provider = subscription->provider()->id();
        provider.groups = subscription->provider()->targets()->groups();
        const TargetFilter* const filter = subscription->filter();
        if (!filter) continue;
        std::erase_if(provider.groups,
                      [&](const TargetGroupPtr& group) { return !filter->passes_any(*group); });
    }
    return snapshot;
}

}  // namespace k8s_sd::inline v0::detail
