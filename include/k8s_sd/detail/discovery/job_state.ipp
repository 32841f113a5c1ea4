#include "k8s_sd/detail/base/due_time.hpp"
#include "k8s_sd/detail/discovery/job_state.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

// --- part ----------------------------------------------------------------------------------------

ProviderDiff ProviderSubscription::take() {
    ProviderDiff news;
    news.provider = provider_->id();
    if (standing == Standing::going) {
        news.last = true;
        news.diff = pending_->get_removal(provider_->targets());
        return news;
    }
    if (pending_) {
        news.diff = pending_->get();
    } else {
        news.diff.full = true;
        news.diff.updated.reserve(provider_->targets().group_count());
        provider_->targets().for_each_group([&](const TargetGroupPtr& group) {
            news.diff.updated.push_back({group, nullptr, false});
        });
    }
    pending_ = provider_->changes_from_now();
    return news;
}

// --- configuration -------------------------------------------------------------------------------

void JobState::configure(std::vector<Entry> entries, Duration interval) {
    const bool added = adopt(entries);
    entries_ = std::move(entries);
    interval_ = interval;
    ended_ = false;
    for (const auto& part : parts_) {
        using enum ProviderSubscription::Standing;
        if (uses(*part->provider())) {
            part->standing = wanted;
        } else if (part->standing == wanted) {
            part->standing = added && part->provider()->ready() ? superseded : going;
        }
    }
    for (const Entry& entry : entries_) {
        const auto has_part = [&](const auto& part) { return part->provider() == entry.provider; };
        if (!entry.provider || std::any_of(parts_.begin(), parts_.end(), has_part)) continue;
        parts_.push_back(std::make_unique<ProviderSubscription>(*this, entry.provider));
    }
    release_superseded();
}

// Says of each entry whether it is awaited; returns whether one was not there before.
bool JobState::adopt(std::vector<Entry>& entries) const {
    bool added = false;
    for (Entry& entry : entries) {
        const Entry* known = find_same(entry);
        entry.awaited = known ? known->awaited : !entry.provider || !entry.provider->ready();
        added = added || !known;
    }
    return added;
}

const JobState::Entry* JobState::find_same(const Entry& wanted) const {
    const auto same = [&](const Entry& entry) {
        if (entry.provider || wanted.provider) return entry.provider == wanted.provider;
        return entry.config == wanted.config;
    };
    const auto it = std::find_if(entries_.begin(), entries_.end(), same);
    return it == entries_.end() ? nullptr : &*it;
}

bool JobState::uses(const Provider& provider) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.provider.get() == &provider; });
}

void JobState::on_ready(const Provider& provider) {
    for (Entry& entry : entries_) {
        if (entry.provider.get() == &provider) entry.awaited = false;
    }
    release_superseded();
}

void JobState::release_superseded() {
    using enum ProviderSubscription::Standing;
    const auto is_superseded = [](const auto& part) { return part->standing == superseded; };
    const auto is_awaited = [](const Entry& entry) { return entry.awaited; };
    if (std::none_of(parts_.begin(), parts_.end(), is_superseded)) {
        for (Entry& entry : entries_) entry.awaited = false;
    } else if (std::none_of(entries_.begin(), entries_.end(), is_awaited)) {
        for (const auto& part : parts_) {
            if (is_superseded(part)) part->standing = going;
        }
    }
    std::erase_if(parts_, [](const auto& part) { return part->idle(); });
}

void JobState::end() {
    entries_.clear();
    for (const auto& part : parts_) part->standing = ProviderSubscription::Standing::going;
    std::erase_if(parts_, [](const auto& part) { return part->idle(); });
    ended_ = true;
}

// --- delivery ------------------------------------------------------------------------------------

bool JobState::has_news() const {
    if (ended_) return begun();
    const auto usable = [](const Entry& entry) { return entry.provider != nullptr; };
    // One that cannot have any targets begins with an empty state.
    if (!begun() && std::none_of(entries_.begin(), entries_.end(), usable)) return true;
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part->has_news(); });
}

TimePoint JobState::due(TimePoint now) const {
    if (ended_ || !last_delivery_) return now;
    return std::max(now, due_after(*last_delivery_, interval_));
}

JobDiff JobState::take(TimePoint now) {
    JobDiff diff;
    diff.full = !begun();
    diff.last = ended_;
    for (const auto& part : parts_) {
        if (part->has_news()) diff.providers.push_back(part->take());
    }
    std::erase_if(parts_, [](const auto& part) {
        return part->standing == ProviderSubscription::Standing::going;
    });
    last_delivery_ = now;
    return diff;
}

// --- status --------------------------------------------------------------------------------------

JobStatus JobState::status() const {
    JobStatus status;
    status.name = name_;
    status.synced = true;
    for (const Entry& entry : entries_) {
        JobConfigStatus& config = status.configs.emplace_back();
        status.synced = status.synced && entry.provider && entry.provider->ready();
        if (entry.provider) {
            config.provider = entry.provider->id();
            config.status = entry.provider->status();
        } else {
            config.status.error = errc::invalid_config;
            config.status.message = entry.problem;
        }
    }
    for (const auto& part : parts_) {
        if (!part->counts()) continue;
        status.groups += part->provider()->targets().group_count();
        status.targets += part->provider()->targets().target_count();
        if (part->standing == ProviderSubscription::Standing::superseded) ++status.superseded;
    }
    return status;
}

JobSnapshot JobState::snapshot() const {
    JobSnapshot snapshot;
    for (const auto& part : parts_) {
        if (!part->counts()) continue;
        JobSnapshot::Provider& provider = snapshot.providers.emplace_back();
        provider.provider = part->provider()->id();
        part->provider()->targets().for_each_group(
            [&](const TargetGroupPtr& group) { provider.groups.push_back(group); });
    }
    return snapshot;
}

}  // namespace k8s_sd::inline v0::detail
