#include "k8s_sd/detail/cache/served_entries.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

WatchQuery query_of(Kind kind, const std::string& ns) {
    WatchQuery query;
    query.kind = kind;
    query.ns = ns;
    return query;
}

}  // namespace

ServedEntries::ServedEntries(const std::string& ns, const CacheWatchSetup& setup,
                             CacheWatch::Observer& watch_observer, Observer& observer,
                             std::mutex& mutex)
    : client_(setup.client),
      setup_(
          std::make_shared<const WatchSetup>(query_of(setup.kind, ns), setup.options, setup.maker)),
      watch_observer_(watch_observer),
      observer_(observer),
      mutex_(mutex) {}

CacheEntry* ServedEntries::find(std::string_view name) const {
    const auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : it->get();
}

CacheEntry& ServedEntries::add(std::unique_ptr<CacheEntry> entry) {
    return **entries_.insert(std::move(entry)).first;
}

void ServedEntries::erase(CacheEntry& entry) {
    unserved_.erase(&entry);
    let_go(entry);
    const std::lock_guard lock(mutex_);
    entries_.erase(entries_.find(std::string_view(entry.name)));
}

// --- assignment of watches -----------------------------------------------------------------------

std::shared_ptr<CacheWatch> ServedEntries::make_watch(const SharedText& name) {
    return std::make_shared<CacheWatch>(watch_observer_, client_, setup_, name);
}

// Swap under the mutex, because status() reads the watches; destroy the old one without it.
void ServedEntries::replace(std::shared_ptr<CacheWatch>& place, std::shared_ptr<CacheWatch> by) {
    const std::lock_guard lock(mutex_);
    place.swap(by);
}

void ServedEntries::serve(std::size_t room) {
    for (; room > 0 && !unserved_.empty(); --room) {
        CacheEntry& entry = **unserved_.begin();
        unserved_.erase(unserved_.begin());
        watch_singly(entry);
    }
}

void ServedEntries::watch_singly(CacheEntry& entry) {
    const auto watch = make_watch(entry.name);
    replace(entry.watch ? entry.next : entry.watch, watch);
    watch->start();
}

void ServedEntries::begin_collection(const std::shared_ptr<CacheWatch>& collection) {
    unserved_.clear();
    for (const auto& entry : entries_) {
        if (entry->needs_watch()) replace(entry->next, collection);
    }
    collection->start();
}

void ServedEntries::drop_next(const CacheWatch& collection) {
    for_each_of(collection, [&](CacheEntry& entry) {
        replace(entry.next, nullptr);
        if (!entry.watch) need_watch(entry);
    });
}

void ServedEntries::leave_collections(CacheWatch& present) {
    for (const auto& entry : entries_) {
        if (entry->next.get() == &present) {
            present.forget(entry->name);
            replace(entry->next, nullptr);
            // An object that the collection hides has no other watch.
            if (!entry->watch) need_watch(*entry);
        }
        // This collection, or an older one in disagreement with it.
        const bool collected = entry->watch && entry->watch->of_collection();
        if (collected && !entry->next) watch_singly(*entry);
    }
}

void ServedEntries::let_go(CacheEntry& entry) {
    for (auto* watch : {&entry.watch, &entry.next}) {
        if (*watch && (*watch)->of_collection()) (*watch)->forget(entry.name);
        replace(*watch, nullptr);
    }
}

// --- changing over -------------------------------------------------------------------------------

void ServedEntries::change_over_if_agreed(CacheEntry& entry) {
    if (entry.next->hides(entry.name)) return;
    ObjectPtr found = entry.next->find(entry.name);
    const bool well = entry.watch && entry.synced() && !entry.watch->error();
    if (well && !CacheEntry::same(found, entry.value)) return;
    change_over(entry, std::move(found));
}

// One of the two watches may hang without an error, or lag far behind. The younger one is more
// likely to be right; otherwise its next events correct the value.
void ServedEntries::end_disagreements() {
    for (const auto& entry : entries_) {
        const bool disagrees =
            entry->next && entry->next->synced() && !entry->next->hides(entry->name);
        if (disagrees && entry->overdue) {
            change_over(*entry, entry->next->find(entry->name));
        } else {
            entry->overdue = disagrees;
        }
    }
}

void ServedEntries::change_over(CacheEntry& entry, ObjectPtr found) {
    const auto before = entry.watch;
    replace(entry.watch, entry.next);
    replace(entry.next, nullptr);
    entry.overdue = false;
    if (before && before->of_collection()) before->forget(entry.name);
    observer_.on_changed_over(entry, before.get());
    set_value(entry, std::move(found));
}

void ServedEntries::set_value(CacheEntry& entry, ObjectPtr value) {
    const bool same = CacheEntry::same(value, entry.value);
    const bool news = !entry.synced() || entry.doubted || !same;
    entry.doubted = false;
    entry.was_read = entry.was_read && same;
    {
        const std::lock_guard lock(mutex_);
        entry.value.swap(value);
        entry.state = entry.value ? CachedState::present : CachedState::absent;
    }
    if (news) observer_.on_value(entry);
}

// --- events of the watches -----------------------------------------------------------------------

void ServedEntries::on_object(const CacheWatch& watch, std::string_view name,
                              const ObjectPtr& after) {
    CacheEntry* const entry = find(name);
    if (entry == nullptr) return;
    if (entry->watch.get() == &watch) set_value(*entry, after);
    if (entry->next && entry->next->synced()) change_over_if_agreed(*entry);
}

void ServedEntries::on_synced(const CacheWatch& watch) {
    for_each_of(watch, [&](CacheEntry& entry) {
        if (entry.watch.get() != &watch) return change_over_if_agreed(entry);
        // A hidden object is not absent.
        if (!watch.hides(entry.name)) set_value(entry, watch.find(entry.name));
    });
}

/// Settles objects hidden since the first list and deleted before they became readable.
void ServedEntries::on_revealed(const CacheWatch& watch) {
    if (!watch.synced()) return;
    for_each_of(watch, [&](CacheEntry& entry) {
        if (entry.watch.get() != &watch) return change_over_if_agreed(entry);
        const bool unknown = !entry.synced() || entry.doubted;
        if (unknown && !watch.hides(entry.name)) set_value(entry, watch.find(entry.name));
    });
}

// If the present watch fails, its objects switch without agreement.
void ServedEntries::on_error(const CacheWatch& watch) {
    for_each_of(watch, [&](CacheEntry& entry) {
        if (entry.watch.get() == &watch && entry.next && entry.next->synced()) {
            change_over_if_agreed(entry);
        }
    });
}

// --- figures -------------------------------------------------------------------------------------

// An object about to switch to a collection does not count as single: a slow switch is no reason to
// list the collection once more.
ServedEntries::Counts ServedEntries::counts() const {
    Counts counts;
    counts.unserved = unserved_.size();
    for (const auto& entry : entries_) {
        const auto& last = entry->next ? entry->next : entry->watch;
        if (!last) continue;
        ++counts.watched;
        if (!last->of_collection()) ++counts.single;
    }
    return counts;
}

bool ServedEntries::single_works() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
        const auto& watch = entry->watch;
        if (!watch || watch->of_collection() || !watch->synced()) return false;
        const error_code error = watch->error();
        return !error || error == errc::object_too_large;  // the server has answered
    });
}

std::size_t ServedEntries::single_watches() const {
    std::size_t count = 0;
    for (const auto& entry : entries_) {
        for (const auto* watch : {&entry->watch, &entry->next}) {
            if (*watch && !(*watch)->of_collection()) ++count;
        }
    }
    return count;
}

}  // namespace k8s_sd::inline v0::detail
