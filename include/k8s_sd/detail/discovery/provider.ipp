#include "k8s_sd/detail/discovery/provider.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

FilteredChanges& changes_of(FilterOwner* owner) { return static_cast<FilteredChanges&>(*owner); }

}  // namespace

std::vector<ProviderSubscription*> Provider::apply(const std::vector<GroupChange>& changes) {
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
        changes.pending.add({change.group, previous, change.replaced});
        concerned.push_back(&changes.subscriber);
    }
    for (FilterOwner* owner : before) {
        if (has(now, owner)) continue;
        FilteredChanges& changes = changes_of(owner);
        changes.pending.add({nullptr, change.previous, change.replaced});
        concerned.push_back(&changes.subscriber);
    }
    if (!change.replaced) return;
    // The host may still have an earlier version of the group: if it passes again, it is replaced.
    // An object without targets had no group before.
    const TargetGroupPtr& group = change.group ? change.group : change.previous;
    index_.for_each([&](FilterOwner& owner) {
        PendingChanges& pending = changes_of(&owner).pending;
        if (has(now, &owner) || has(before, &owner)) return;
        if (pending.contains(group->source())) pending.add({nullptr, group, true});
    });
}

void Provider::add(FilteredChanges& changes, bool has_state) {
    index_.add(changes);
    if (!has_state) new_.push_back(&changes);
}

void Provider::remove(FilteredChanges& changes) {
    index_.remove(changes);
    std::erase(new_, &changes);
}

void Provider::change_filter(FilteredChanges& changes, const TargetFilter& filter) {
    FilterOwner before{changes.filter};
    index_.remove(changes);
    changes.filter = filter;
    index_.add(changes);
    const bool is_new = std::find(new_.begin(), new_.end(), &changes) != new_.end();
    if (!ready_ || is_new) return;
    FilterIndex both;
    both.add(before);
    both.add(changes);
    targets_->read([&](const TargetGroups& groups) {
        groups.for_each_group([&](const TargetGroupPtr& group) {
            const FilterIndex::Owners passing = both.passing(*group);
            if (passing.size() != 1) return;
            if (passing.front() == &before) {
                changes.pending.add({nullptr, group, false});
            } else {
                changes.pending.add({group, nullptr, false});
            }
        });
    });
}

void Provider::fill() {
    if (!ready_ || new_.empty()) return;
    FilterIndex index;
    for (FilteredChanges* changes : new_) index.add(*changes);
    targets_->read([&](const TargetGroups& groups) {
        groups.for_each_group([&](const TargetGroupPtr& group) {
            for (FilterOwner* owner : index.passing(*group)) {
                changes_of(owner).pending.add({group, nullptr, false});
            }
        });
    });
    new_.clear();
}

}  // namespace k8s_sd::inline v0::detail
