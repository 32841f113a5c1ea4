#include "k8s_sd/detail/cache/cache_namespace.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

CacheNamespace::CacheNamespace(std::string name, const Settings& settings, Observer& observer,
                               std::mutex& mutex)
    : name_(std::move(name)),
      settings_(settings),
      observer_(observer),
      mutex_(mutex),
      entries_(name_, settings.watches, *this, *this, mutex),
      collection_(CollectionPolicy(settings.collection_threshold), entries_, *settings.clock,
                  *settings.watches.metrics, mutex) {}

CacheNamespace::~CacheNamespace() {
    for_each([this](CacheEntry& entry) { metrics().cache_references -= entry.references; });
    metrics().cached_objects -= static_cast<std::int64_t>(entries_.all().size());
}

// --- references ----------------------------------------------------------------------------------

void CacheNamespace::add_reference(std::string_view name) {
    CacheEntry* entry = find(name);
    // The new reference may mean an object recreated under the same name.
    if (entry != nullptr) doubt(*entry);
    const std::lock_guard lock(mutex_);
    if (entry == nullptr) {
        entry = &entries_.add(std::make_unique<CacheEntry>(*this, name, now()));
        ++metrics().cached_objects;
        entries_.need_watch(*entry);
        observer_.on_update_due(*this);
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
    // Drop it in update(), not at once: the next handler may add another reference.
    unreferenced_.insert(entry);
    observer_.on_update_due(*this);
}

void CacheNamespace::drop_unreferenced() {
    for (CacheEntry* entry : std::exchange(unreferenced_, {})) {
        if (entry->references > 0) continue;
        observer_.on_dropped(*entry);
        entries_.erase(*entry);
        --metrics().cached_objects;
    }
}

// --- reading -------------------------------------------------------------------------------------

void CacheNamespace::set_state(CacheEntry& entry, CachedState state) {
    const std::lock_guard lock(mutex_);
    entry.state = state;
}

void CacheNamespace::touch(CacheEntry& entry) {
    entry.last_read = now();
    if (entry.state != CachedState::idle) return;
    ++metrics().cache_rewatches;
    set_state(entry, CachedState::unsynced);
    entries_.need_watch(entry);
    observer_.on_update_due(*this);
}

void CacheNamespace::on_read(CacheEntry& entry) {
    entry.was_read = true;
    if (entry.is_immutable()) stop_watching(entry);
}

void CacheNamespace::stop_watching(CacheEntry& entry) {
    if (!entry.watch || entry.doubted) return;
    entry.read_at = now();
    set_state(entry, CachedState::immutable);
    entries_.let_go(entry);
    observer_.on_update_due(*this);
}

void CacheNamespace::doubt(CacheEntry& entry) {
    if (entry.state != CachedState::immutable) return;
    entry.doubted = true;
    set_state(entry, CachedState::present);
    entries_.need_watch(entry);
    observer_.on_update_due(*this);
}

void CacheNamespace::on_value(CacheEntry& entry) {
    observer_.on_value(entry);
    // It was read before and is still the same object.
    if (entry.was_read && entry.is_immutable()) stop_watching(entry);
}

void CacheNamespace::stop_idle() {
    const auto collection = collection_.serving();
    const auto& all = entries_.all();
    const bool busy = collection && std::any_of(all.begin(), all.end(), [&](const auto& entry) {
                          return entry->watch == collection && !is_idle(*entry);
                      });
    for (const auto& entry : all) {
        if (!entry->watch || !is_idle(*entry)) continue;
        // A single active reader keeps the whole collection.
        if (entry->watch == collection && busy) continue;
        forget_value(*entry);
    }
}

// An object not yet read from the server is not idle; otherwise a slow server would get the same
// request again and again (kubernetes/kubernetes#104579).
bool CacheNamespace::is_idle(const CacheEntry& entry) const {
    return entry.synced() && !entry.doubted && !entry.next && entry.followers.empty() &&
           now() - entry.last_read >= settings_.max_idle;
}

// Drop the value: without a watch it would go stale.
void CacheNamespace::forget_value(CacheEntry& entry) {
    ++metrics().cache_idle_stops;
    entries_.let_go(entry);
    entry.value.reset();
    entry.was_read = false;
    set_state(entry, CachedState::idle);
}

// --- periodic work on the strand -----------------------------------------------------------------

void CacheNamespace::update() {
    drop_unreferenced();
    collection_.update();
    if (entries_.any_unserved()) entries_.serve(collection_.room());
}

void CacheNamespace::tidy() {
    stop_idle();
    entries_.end_disagreements();
    collection_.check();
    report_denied();
    observer_.on_update_due(*this);  // retry a refused collection if it is due
}

// --- events of the watches -----------------------------------------------------------------------

bool CacheNamespace::wants(const CacheWatch& watch, std::string_view name) {
    const CacheEntry* const entry = find(name);
    return entry != nullptr && entry->has_watch(watch);
}

void CacheNamespace::on_object(CacheWatch& watch, std::string_view name, const ObjectPtr& after) {
    entries_.on_object(watch, name, after);
}

void CacheNamespace::on_synced(CacheWatch& watch) {
    if (watch.of_collection()) collection_.on_synced(watch);
    entries_.on_synced(watch);
    observer_.on_update_due(*this);
}

void CacheNamespace::on_status(CacheWatch& watch) {
    CacheWatch::News news;
    {
        const std::lock_guard lock(mutex_);
        news = watch.publish();
    }
    if (news.revealed) entries_.on_revealed(watch);
    if (!news.failed) return;
    entries_.on_error(watch);
    entries_.for_each_of(watch, [this](CacheEntry& entry) {
        if (entry.doubted) observer_.on_value(entry);  // the known value stays
    });
    if (watch.error() != errc::forbidden) return;
    if (watch.of_collection()) {
        collection_.on_forbidden(watch);
        report_denied();
        observer_.on_update_due(*this);
    } else {
        on_single_forbidden(watch);
    }
}

void CacheNamespace::on_single_forbidden(const CacheWatch& watch) {
    CacheEntry* const entry = find(watch.name());
    if (entry == nullptr || !entry->has_watch(watch)) return;
    if (entry->next.get() == &watch) {
        entries_.drop_next(watch);
        collection_.on_single_denied(entry->name);
    } else if (entry->is_denied()) {
        observer_.on_denied(*entry);
    }
}

void CacheNamespace::report_denied() {
    for_each([this](CacheEntry& entry) {
        if (entry.is_denied()) observer_.on_denied(entry);
    });
}

// An object with a forbidden collection watch has synced a single watch.
void CacheNamespace::on_changed_over(CacheEntry& entry, const CacheWatch* from) {
    if (from != nullptr && from->of_collection() && !entry.watch->of_collection() &&
        from->error() == errc::forbidden) {
        collection_.on_single_allowed();
    }
    observer_.on_update_due(*this);
}

// --- status --------------------------------------------------------------------------------------

CachedNamespaceStatus CacheNamespace::status() const {
    const auto& all = entries_.all();
    CachedNamespaceStatus status;
    status.ns = name_;
    status.objects = all.size();
    status.single_watches = entries_.single_watches();
    status.collection_watch = std::any_of(all.begin(), all.end(), [](const auto& entry) {
        return entry->watch && entry->watch->of_collection();
    });
    status.collection_forbidden = collection_.is_refused();
    return status;
}

void CacheNamespace::append_status(std::vector<CachedObjectStatus>& all) const {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (const auto& entry : entries_.all()) all.push_back(status_of(*entry));
    std::sort(all.begin() + first, all.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
}

std::optional<CachedObjectStatus> CacheNamespace::status(std::string_view name) const {
    const CacheEntry* const entry = find(name);
    if (entry == nullptr) return std::nullopt;
    return status_of(*entry);
}

CachedObjectStatus CacheNamespace::status_of(const CacheEntry& entry) const {
    CachedObjectStatus status;
    status.ns = name_;
    status.name = entry.name;
    status.references = entry.references;
    status.state = entry.state;
    const CacheWatch* const watch = entry.watch ? entry.watch.get() : entry.next.get();
    if (watch != nullptr) {
        status.error = watch->trouble().error;
        status.message = watch->trouble().message;
    }
    return status;
}

}  // namespace k8s_sd::inline v0::detail
