#include "k8s_sd/detail/discovery/provider.hpp"

#include <algorithm>
#include <deque>
#include <functional>

namespace k8s_sd::inline v0::detail {

namespace {

FilteredChanges& changes_of(FilterOwner* owner) { return static_cast<FilteredChanges&>(*owner); }

}  // namespace

std::vector<ProviderSubscription*> Provider::apply(const std::vector<GroupChange>& changes) {
    fill();  // if it failed before
    live_->write([&](TargetGroups& groups) {
        for (const GroupChange& change : changes) groups.apply(change);
    });
    std::erase_if(pending_, [](const auto& pending) { return pending.expired(); });
    for (const auto& weak : pending_) {
        const auto pending = weak.lock();
        for (const GroupChange& change : changes) pending->add(change);
    }
    std::vector<ProviderSubscription*> concerned;
    if (index_.size() == 0) return concerned;
    for (const GroupChange& change : changes) apply_filtered(change, concerned);
    return concerned;
}

void Provider::apply_filtered(const GroupChange& change,
                              std::vector<ProviderSubscription*>& concerned) {
    FilterIndex::Owners before;
    FilterIndex::Owners now;
    if (change.previous) before = index_.passing(*change.previous);
    if (change.group) now = index_.passing(*change.group);
    const auto has = [](const FilterIndex::Owners& owners, const FilterOwner* owner) {
        return std::binary_search(owners.begin(), owners.end(), owner);
    };
    std::sort(before.begin(), before.end());
    std::sort(now.begin(), now.end());
    for (FilterOwner* owner : now) {
        FilteredChanges& changes = changes_of(owner);
        const TargetGroupPtr previous = has(before, owner) ? change.previous : nullptr;
        record(changes, {change.group, previous, change.replaced});
        concerned.push_back(&changes.subscriber);
    }
    for (FilterOwner* owner : before) {
        if (has(now, owner)) continue;
        FilteredChanges& changes = changes_of(owner);
        record(changes, {nullptr, change.previous, change.replaced});
        concerned.push_back(&changes.subscriber);
    }
    if (!change.replaced) return;
    // The host may still have an earlier version of the group: if it passes again, it is replaced.
    const TargetGroupPtr& group = change.group ? change.group : change.previous;
    boost::unordered::erase_if(removing_, [](const FilteredChanges* changes) {
        return changes->pending.empty();  // reverted
    });
    for (FilteredChanges* changes : removing_) {
        if (has(now, changes) || !changes->pending.contains(group->source())) continue;
        changes->pending.add({nullptr, group, true});
    }
}

void Provider::record(FilteredChanges& changes, const GroupChange& change) {
    if (!change.group) removing_.insert(&changes);
    changes.pending.add(change);
}

TargetGroupDiff Provider::take(FilteredChanges& changes) {
    TargetGroupDiff diff = changes.pending.take();
    removing_.erase(&changes);
    return diff;
}

void Provider::add(FilteredChanges& changes, bool has_state) {
    try {
        if (!has_state) unfilled_.emplace(&changes, std::nullopt);
        if (!changes.pending.empty()) removing_.insert(&changes);
        index_.add(changes);
    } catch (...) {
        remove(changes);
        throw;
    }
    std::erase(unfiltered_, &changes.subscriber);
}

void Provider::remove(FilteredChanges& changes) noexcept {
    index_.remove(changes);
    unfilled_.erase(&changes);
    removing_.erase(&changes);
}

void Provider::end_filter(FilteredChanges& changes) {
    unfiltered_.push_back(&changes.subscriber);
    remove(changes);
}

void Provider::change_filter(FilteredChanges& changes, const TargetFilter& filter) {
    TargetFilter next = filter;
    unfilled_.try_emplace(&changes, changes.filter);
    index_.remove(changes);
    std::swap(changes.filter, next);
    index_.add(changes);
}

void Provider::fill() {
    if (!ready_ || unfilled_.empty()) return;
    struct Filling : FilterOwner {
        FilteredChanges* changes = nullptr;
        bool is_before = false;
    };
    FilterIndex index;
    std::deque<Filling> all;
    const auto add = [&](FilteredChanges& changes, const TargetFilter& filter, bool is_before) {
        Filling& filling = all.emplace_back();
        filling.filter = filter;
        filling.changes = &changes;
        filling.is_before = is_before;
        index.add(filling);
    };
    for (const auto& [changes, before] : unfilled_) {
        add(*changes, changes->filter, false);
        if (before) add(*changes, *before, true);
    }
    targets_->read([&](const TargetGroups& groups) {
        groups.for_each_group([&](const TargetGroupPtr& group) {
            FilterIndex::Owners passing = index.passing(*group);
            // Both filters of a subscriber are neighbours then.
            const auto user_of = [](const FilterOwner* owner) {
                return static_cast<const Filling*>(owner)->changes;
            };
            std::sort(passing.begin(), passing.end(), [&](const auto* a, const auto* b) {
                return std::less<>()(user_of(a), user_of(b));
            });
            for (std::size_t i = 0; i < passing.size(); ++i) {
                const bool are_both =
                    i + 1 < passing.size() && user_of(passing[i]) == user_of(passing[i + 1]);
                if (are_both) {
                    ++i;
                    continue;
                }
                const Filling& filling = static_cast<const Filling&>(*passing[i]);
                record(*filling.changes, filling.is_before ? GroupChange{nullptr, group, false}
                                                           : GroupChange{group, nullptr, false});
            }
        });
    });
    unfilled_.clear();
}

}  // namespace k8s_sd::inline v0::detail
