#include "k8s_sd/detail/discovery/provider.hpp"

#include <algorithm>
#include <deque>
#include <functional>

namespace k8s_sd::inline v0::detail {

namespace {

FilteredChanges& changes_of(FilterOwner* owner) { return static_cast<FilteredChanges&>(*owner); }

}  // namespace

// --- removals ------------------------------------------------------------------------------------

void UndeliveredRemovals::add(FilteredChanges& changes, const GroupChange& change) {
    const std::string_view source = (change.group ? change.group : change.previous)->source();
    const bool before = contains(source) && changes.pending.removes(source);
    changes.pending.add(change);
    const bool now = !change.group && changes.pending.removes(source);  // else it was reverted
    if (now && !before) count(changes, source);
    if (before && !now) discount(source);
}

void UndeliveredRemovals::insert(FilteredChanges& changes) {
    changes.pending.for_each_removed(
        [&](const TargetGroup& group) { count(changes, group.source()); });
}

void UndeliveredRemovals::erase(FilteredChanges& changes) noexcept {
    if (subscribers_.erase(&changes) == 0) return;
    changes.pending.for_each_removed([&](const TargetGroup& group) { discount(group.source()); });
}

void UndeliveredRemovals::count(FilteredChanges& changes, std::string_view source) {
    subscribers_.insert(&changes);
    ++sources_[SeededHash()(source)];
}

void UndeliveredRemovals::discount(std::string_view source) noexcept {
    const auto counted = sources_.find(SeededHash()(source));
    if (counted != sources_.end() && --counted->second == 0) sources_.erase(counted);
}

// --- changes -------------------------------------------------------------------------------------

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
    const TargetGroupPtr& group = change.group ? change.group : change.previous;
    const bool is_removed = change.replaced && removals_.contains(group->source());
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
        removals_.add(changes, {change.group, previous, change.replaced});
        concerned.push_back(&changes.subscriber);
    }
    for (FilterOwner* owner : before) {
        if (has(now, owner)) continue;
        FilteredChanges& changes = changes_of(owner);
        removals_.add(changes, {nullptr, change.previous, change.replaced});
        concerned.push_back(&changes.subscriber);
    }
    if (!is_removed) return;
    // The host may still have an earlier version of the group: if it passes again, it is replaced.
    for (FilteredChanges* changes : removals_.subscribers()) {
        if (changes->pending.removes(group->source())) changes->pending.add({nullptr, group, true});
    }
}

void Provider::forget_changes(FilteredChanges& changes) noexcept {
    removals_.erase(changes);
    changes.filled = false;
    changes.pending.clear();
}

void Provider::add(FilteredChanges& changes, bool has_state) {
    try {
        if (!has_state) unfilled_.emplace(&changes, std::nullopt);
        removals_.insert(changes);
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
    removals_.erase(changes);
}

void Provider::prepare_end_of_filter() {
    if (unfiltered_.size() < unfiltered_.capacity()) return;
    unfiltered_.reserve(2 * unfiltered_.size() + 1);
}

void Provider::end_filter(FilteredChanges& changes) noexcept {
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
                const TargetGroupPtr none;
                removals_.add(*filling.changes, {filling.is_before ? none : group,
                                                 filling.is_before ? group : none, false});
                filling.changes->filled = true;
            }
        });
    });
    unfilled_.clear();
}

}  // namespace k8s_sd::inline v0::detail
