#include "k8s_sd/detail/cache/cache_namespace.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

// Permissions are seldom given.
constexpr Duration collection_retry = std::chrono::minutes(10);

bool serves(const CacheWatch& watch, const CacheEntry& entry) {
    return entry.watch.get() == &watch || entry.next.get() == &watch;
}

}  // namespace

CacheNamespace::CacheNamespace(std::string name, const Settings& settings, Host& host,
                               std::mutex& mutex)
    : name_(std::move(name)), settings_(settings), host_(host), mutex_(mutex) {}

CacheNamespace::~CacheNamespace() {
    for (const auto& entry : entries_) metrics().cache_references -= entry->references;
    metrics().cached_objects -= static_cast<std::int64_t>(entries_.size());
}

// --- references ----------------------------------------------------------------------------------

CacheEntry* CacheNamespace::find(std::string_view name) {
    const auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : it->get();
}

void CacheNamespace::add_reference(std::string_view name) {
    CacheEntry* entry = find(name);
    const std::lock_guard lock(mutex_);
    if (entry == nullptr) {
        auto added = std::make_unique<CacheEntry>(*this, name, host_.now());
        entry = entries_.insert(std::move(added)).first->get();
        ++metrics().cached_objects;
        unserved_.insert(entry);
        host_.schedule(*this);
    }
    ++entry->references;
    ++metrics().cache_references;
}

void CacheNamespace::remove_reference(std::string_view name) {
    CacheEntry* const entry = find(name);
    if (entry == nullptr || entry->references == 0) return;
    --metrics().cache_references;
    {
        const std::lock_guard lock(mutex_);
        if (--entry->references > 0) return;
    }
    // Not at once: the next handler may bring another reference.
    doubtful_.insert(entry);
    host_.schedule(*this);
}

void CacheNamespace::drop_unreferenced() {
    for (CacheEntry* entry : std::exchange(doubtful_, {})) {
        if (entry->references > 0) continue;
        unserved_.erase(entry);
        let_go(*entry);
        host_.on_dropped(*entry);
        const std::lock_guard lock(mutex_);
        entries_.erase(entries_.find(std::string_view(entry->name)));
        --metrics().cached_objects;
    }
}

// --- reading -------------------------------------------------------------------------------------

void CacheNamespace::touch(CacheEntry& entry) {
    entry.last_read = host_.now();
    if (!entry.idle) return;
    ++metrics().cache_revivals;
    {
        const std::lock_guard lock(mutex_);
        entry.idle = false;
    }
    unserved_.insert(&entry);
    host_.schedule(*this);
}

void CacheNamespace::keep(CacheEntry& entry) {
    if (!entry.watch) return;
    {
        const std::lock_guard lock(mutex_);
        entry.kept = true;
    }
    let_go(entry);
    host_.schedule(*this);
}

void CacheNamespace::tidy() {
    stop_idle();
    end_disagreements();
    doubt_joining();
    host_.schedule(*this);  // a collection may be tried again
}

void CacheNamespace::stop_idle() {
    const auto collection = collection_.lock();
    const bool busy = std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
        return entry->watch == collection && !is_idle(*entry);
    });
    for (const auto& entry : entries_) {
        if (entry->watch == nullptr || !is_idle(*entry)) continue;
        // One who reads keeps the whole collection.
        if (entry->watch == collection && busy) continue;
        stop(*entry);
    }
}

// What has never been read from the server is not idle, else a slow server would be asked for
// ever (kubernetes/kubernetes#104579).
bool CacheNamespace::is_idle(const CacheEntry& entry) const {
    return entry.synced && !entry.next && entry.followers.empty() &&
           host_.now() - entry.last_read >= settings_.max_idle;
}

void CacheNamespace::stop(CacheEntry& entry) {
    ++metrics().cache_idle_stops;
    let_go(entry);
    const std::lock_guard lock(mutex_);
    entry.value.reset();  // never served again: it gets old from now on
    entry.synced = false;
    entry.idle = true;
}

// --- which watch serves which object -------------------------------------------------------------

void CacheNamespace::update() {
    drop_unreferenced();
    if (collection_.expired()) leaving_ = false;
    const bool changing = leaving_ || !joining_.expired();
    if (may_collect() && !changing &&
        watched_singly() + unserved_.size() > settings_.collection_threshold) {
        join_collection();
    } else {
        serve();
    }
    leave_if_few();
}

bool CacheNamespace::may_collect() const {
    return settings_.collection_threshold > 0 && host_.now() >= no_collection_before_;
}

std::size_t CacheNamespace::single_watches() const {
    std::size_t count = 0;
    for (const auto& entry : entries_) {
        for (const auto* watch : {&entry->watch, &entry->next}) {
            if (*watch && !(*watch)->of_collection()) ++count;
        }
    }
    return count;
}

// Without those that are about to change over to a collection: however long that takes, it is no
// reason to list it once more.
std::size_t CacheNamespace::watched_singly() const {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
            const auto& last = entry->next ? entry->next : entry->watch;
            return last && !last->of_collection();
        }));
}

std::size_t CacheNamespace::watched() const {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
            return entry->watch != nullptr || entry->next != nullptr;
        }));
}

// Gives watches of their own to those that have none. While a collection is on the way, what
// exceeds the threshold waits for it.
void CacheNamespace::serve() {
    if (unserved_.empty()) return;
    std::size_t room = unserved_.size();
    if (may_collect()) {
        room = settings_.collection_threshold -
               std::min(settings_.collection_threshold, watched_singly());
    }
    for (; room > 0 && !unserved_.empty(); --room) {
        CacheEntry& entry = **unserved_.begin();
        unserved_.erase(unserved_.begin());
        watch_singly(entry, &CacheEntry::watch);
    }
}

void CacheNamespace::watch_singly(CacheEntry& entry,
                                  std::shared_ptr<CacheWatch> CacheEntry::*place) {
    const auto watch = std::make_shared<CacheWatch>(*this, settings_.watches, name_, entry.name);
    replace(entry.*place, watch);
    watch->start();
}

void CacheNamespace::join_collection() {
    const auto collection =
        std::make_shared<CacheWatch>(*this, settings_.watches, name_, std::string_view());
    joining_ = collection;
    unserved_.clear();
    for (const auto& entry : entries_) {
        if (!entry->kept && !entry->idle) replace(entry->next, collection);
    }
    collection->start();
}

void CacheNamespace::leave_if_few() {
    const auto collection = collection_.lock();
    if (!collection || leaving_ || !joining_.expired()) return;
    // Half of what makes it join, so that it does not go back and forth.
    if (watched() + unserved_.size() <= settings_.collection_threshold / 2) leave_collection();
}

void CacheNamespace::leave_collection() {
    const auto collection = collection_.lock();
    leaving_ = true;
    ++metrics().cache_collection_switches;
    for (const auto& entry : entries_) {
        if (entry->next == collection) {
            collection->forget(entry->name);
            replace(entry->next, nullptr);
        }
        // Of this collection, or of an older one that it did not agree with.
        const bool collected = entry->watch && entry->watch->of_collection();
        if (collected && !entry->next) watch_singly(*entry, &CacheEntry::next);
    }
}

void CacheNamespace::change_over_if_agreed(CacheEntry& entry) {
    ObjectPtr found = entry.next->find(entry.name);
    const bool well = entry.watch && entry.synced && !entry.watch->error();
    if (well && !CacheEntry::same(found, entry.value)) return;
    change_over(entry, std::move(found));
}

// One of the two may hang without an error, or be far behind. The younger one is more likely to be
// right; if it is not, its next events mend that.
void CacheNamespace::end_disagreements() {
    for (const auto& entry : entries_) {
        const bool disagrees = entry->next && entry->next->synced();
        if (disagrees && entry->overdue) {
            change_over(*entry, entry->next->find(entry->name));
        } else {
            entry->overdue = disagrees;
        }
    }
}

// A collection that cannot be listed (too large, too slow, refused on the way) must not keep its
// objects waiting where single watches work. Whether they do is found out with one of them.
void CacheNamespace::doubt_joining() {
    const auto joining = joining_.lock();
    if (!joining || joining->synced()) return doubted_.reset();
    const auto well = [](const auto& entry) {
        return entry->watch && !entry->watch->of_collection() && entry->watch->synced() &&
               !entry->watch->error();
    };
    if (doubted_.lock() == joining && std::any_of(entries_.begin(), entries_.end(), well)) {
        return refuse_collection(*joining);
    }
    doubted_ = joining;
    const auto unserved = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
        return entry->next == joining && !entry->watch;
    });
    const bool probed = std::any_of(entries_.begin(), entries_.end(),
                                    [](const auto& entry) { return entry->watch != nullptr; });
    if (unserved != entries_.end() && !probed) watch_singly(**unserved, &CacheEntry::watch);
}

void CacheNamespace::change_over(CacheEntry& entry, ObjectPtr found) {
    const auto before = entry.watch;
    replace(entry.watch, entry.next);
    replace(entry.next, nullptr);
    entry.overdue = false;
    const bool collection_fails =
        before && before->of_collection() && before->error() == errc::forbidden;
    if (before && before->of_collection()) before->forget(entry.name);
    set_value(entry, std::move(found));
    host_.schedule(*this);
    // The permission for the collection went, that for the single ones is there.
    if (collection_fails && !leaving_ && !collection_.expired()) leave_collection();
}

void CacheNamespace::let_go(CacheEntry& entry) {
    for (auto* watch : {&entry.watch, &entry.next}) {
        if (*watch && (*watch)->of_collection()) (*watch)->forget(entry.name);
        replace(*watch, nullptr);
    }
}

// Under the mutex, as status() looks at the watches; what goes is destroyed without it.
void CacheNamespace::replace(std::shared_ptr<CacheWatch>& place, std::shared_ptr<CacheWatch> by) {
    const std::lock_guard lock(mutex_);
    place.swap(by);
}

void CacheNamespace::set_value(CacheEntry& entry, ObjectPtr value) {
    const bool news = !entry.synced || !CacheEntry::same(value, entry.value);
    {
        const std::lock_guard lock(mutex_);
        entry.value.swap(value);
        entry.synced = true;
    }
    if (news) host_.on_value(entry);
}

// --- what watches report -------------------------------------------------------------------------

template <class Visit>
void CacheNamespace::for_each_of(const CacheWatch& watch, Visit visit) {
    if (watch.of_collection()) {
        for (const auto& entry : entries_) {
            if (serves(watch, *entry)) visit(*entry);
        }
    } else if (CacheEntry* entry = find(watch.name()); entry != nullptr && serves(watch, *entry)) {
        visit(*entry);
    }
}

bool CacheNamespace::wants(const CacheWatch& watch, std::string_view name) {
    const CacheEntry* const entry = find(name);
    return entry != nullptr && serves(watch, *entry);
}

void CacheNamespace::on_object(CacheWatch& watch, std::string_view name, const ObjectPtr& after) {
    CacheEntry* const entry = find(name);
    if (entry == nullptr) return;
    if (entry->watch.get() == &watch) set_value(*entry, after);
    if (entry->next && entry->next->synced()) change_over_if_agreed(*entry);
}

void CacheNamespace::on_synced(CacheWatch& watch) {
    if (const auto joined = joining_.lock(); joined.get() == &watch) {
        joining_.reset();
        collection_ = joined;
        ++metrics().cache_collection_switches;
    }
    for_each_of(watch, [&](CacheEntry& entry) {
        if (entry.watch.get() == &watch) return set_value(entry, watch.find(entry.name));
        change_over_if_agreed(entry);
    });
    host_.schedule(*this);
}

void CacheNamespace::on_status(CacheWatch& watch) {
    {
        const std::lock_guard lock(mutex_);
        watch.publish();
    }
    if (!watch.error()) return;
    // Those that have a watch to change over to need not agree with a failing one.
    for_each_of(watch, [&](CacheEntry& entry) {
        if (entry.watch.get() == &watch && entry.next && entry.next->synced()) {
            change_over_if_agreed(entry);
        }
    });
    if (watch.error() == errc::forbidden) on_forbidden(watch);
}

void CacheNamespace::on_forbidden(CacheWatch& watch) {
    if (watch.of_collection()) {
        if (!watch.synced()) return refuse_collection(watch);
        postpone_collection();
        return probe(watch);
    }
    for_each_of(watch, [&](CacheEntry& entry) {
        if (entry.next.get() == &watch) {
            denied_.insert(entry.name);
            replace(entry.next, nullptr);
            leaving_ = false;
        } else if (!entry.synced && !entry.next) {
            host_.on_denied(entry);
        }
    });
}

void CacheNamespace::postpone_collection() {
    const std::lock_guard lock(mutex_);
    no_collection_before_ = host_.now() + collection_retry;
}

void CacheNamespace::refuse_collection(const CacheWatch& collection) {
    postpone_collection();
    // The last of them lets go of the collection.
    const auto keep_alive = joining_.lock();
    for_each_of(collection, [&](CacheEntry& entry) {
        replace(entry.next, nullptr);
        if (!entry.watch) {
            unserved_.insert(&entry);
        } else if (!entry.synced && entry.watch->error() == errc::forbidden) {
            host_.on_denied(entry);
        }
    });
    host_.schedule(*this);
}

// Whether the objects may be watched singly is found out with one of them, each time with another:
// a role can allow some and not others.
void CacheNamespace::probe(const CacheWatch& collection) {
    CacheEntry* denied = nullptr;
    CacheEntry* chosen = nullptr;
    for (const auto& entry : entries_) {
        if (entry->watch.get() != &collection) continue;
        if (entry->next) return;
        (denied_.contains(entry->name) ? denied : chosen) = entry.get();
    }
    if (chosen == nullptr) {
        denied_.clear();
        chosen = denied;
    }
    if (chosen != nullptr) watch_singly(*chosen, &CacheEntry::next);
}

// --- status --------------------------------------------------------------------------------------

CachedNamespaceStatus CacheNamespace::status() const {
    CachedNamespaceStatus status;
    status.ns = name_;
    status.objects = entries_.size();
    status.single_watches = single_watches();
    status.collection_watch = std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
        return entry->watch && entry->watch->of_collection();
    });
    status.collection_forbidden = host_.now() < no_collection_before_;
    return status;
}

void CacheNamespace::append_status(std::vector<CachedObjectStatus>& all) const {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (const auto& entry : entries_) all.push_back(status_of(*entry));
    std::sort(all.begin() + first, all.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
}

std::optional<CachedObjectStatus> CacheNamespace::status(std::string_view name) const {
    const auto it = entries_.find(name);
    if (it == entries_.end()) return std::nullopt;
    return status_of(**it);
}

CachedObjectStatus CacheNamespace::status_of(const CacheEntry& entry) const {
    CachedObjectStatus status;
    status.ns = name_;
    status.name = entry.name;
    status.references = entry.references;
    if (entry.idle) {
        status.state = CachedState::idle;
    } else if (entry.kept) {
        status.state = CachedState::immutable;
    } else if (entry.synced) {
        status.state = entry.value ? CachedState::present : CachedState::absent;
    }
    const CacheWatch* const watch = entry.watch ? entry.watch.get() : entry.next.get();
    if (watch != nullptr) {
        status.error = watch->trouble().error;
        status.message = watch->trouble().message;
    }
    return status;
}

}  // namespace k8s_sd::inline v0::detail
