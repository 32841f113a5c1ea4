#pragma once

#include "k8s_sd/detail/cache/cache_entry.hpp"
#include "k8s_sd/detail/cache/cache_watch.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The referenced objects of one namespace, and the watch serving each of them.
///
/// An object switches to its next watch when that is synced and both agree on the object, or when
/// the old watch fails: the host sees neither an older state nor a gap.
///
/// Used on the cache's strand.
class ServedEntries {
 public:
    class Observer {
     public:
        /// The value is known for the first time, or has changed.
        virtual void on_value(CacheEntry&) = 0;
        /// The entry's value now comes from another watch; `from` may be null.
        virtual void on_changed_over(CacheEntry&, const CacheWatch* from) = 0;

     protected:
        ~Observer() = default;
    };
    struct Counts {
        std::size_t single = 0;    ///< objects with a single watch as their last one
        std::size_t watched = 0;   ///< objects with any watch
        std::size_t unserved = 0;  ///< objects waiting for a watch
    };

    /// All arguments outlive the object. \param mutex  guards the state read by status()
    ServedEntries(const std::string& ns, const CacheWatchSetup&, CacheWatch::Observer&, Observer&,
                  std::mutex& mutex);
    ServedEntries(const ServedEntries&) = delete;
    ServedEntries& operator=(const ServedEntries&) = delete;

    const CacheEntrySet& all() const noexcept { return entries_; }
    CacheEntry* find(std::string_view name) const;
    /// \pre the entry is new; the mutex is held
    CacheEntry& add(std::unique_ptr<CacheEntry>);
    void erase(CacheEntry&);
    /// Visits the entries with this watch as their present or next one.
    template <class Visit>
    void for_each_of(const CacheWatch&, Visit);

    /// Marks the object as waiting for a watch.
    void need_watch(CacheEntry& entry) { unserved_.insert(&entry); }
    bool any_unserved() const noexcept { return !unserved_.empty(); }
    /// Starts single watches for at most `room` objects without a watch.
    void serve(std::size_t room);
    /// Starts a single watch of the object: its first, or its next.
    void watch_singly(CacheEntry&);
    /// Starts the watch of the collection, as the next watch of all objects.
    void begin_collection(const std::shared_ptr<CacheWatch>&);
    std::shared_ptr<CacheWatch> make_collection() { return make_watch({}); }
    /// Cancels all transitions to this collection.
    void drop_next(const CacheWatch& collection);
    /// Starts a single watch for each object with a collection watch, to replace it.
    void leave_collections(CacheWatch& present);
    /// Removes the object's watches.
    void let_go(CacheEntry&);
    /// Called periodically: ends overdue transitions between watches.
    void end_disagreements();

    // Events of the watches.
    void on_object(const CacheWatch&, std::string_view name, const ObjectPtr& after);
    void on_synced(const CacheWatch&);
    void on_revealed(const CacheWatch&);
    void on_error(const CacheWatch&);

    Counts counts() const;
    /// The server answers a single-object watch.
    bool single_works() const;
    /// Number of single-object watches; under the mutex, on any thread.
    std::size_t single_watches() const;

 private:
    std::shared_ptr<CacheWatch> make_watch(const SharedText& name);
    void replace(std::shared_ptr<CacheWatch>&, std::shared_ptr<CacheWatch> by);
    void change_over_if_agreed(CacheEntry&);
    void change_over(CacheEntry&, ObjectPtr found);
    void set_value(CacheEntry&, ObjectPtr);

    const std::shared_ptr<ApiClient>& client_;
    const std::shared_ptr<const WatchSetup> setup_;
    CacheWatch::Observer& watch_observer_;
    Observer& observer_;
    std::mutex& mutex_;
    CacheEntrySet entries_;
    std::set<CacheEntry*> unserved_;  // waiting for a watch
};

template <class Visit>
void ServedEntries::for_each_of(const CacheWatch& watch, Visit visit) {
    if (watch.of_collection()) {
        for (const auto& entry : entries_) {
            if (entry->has_watch(watch)) visit(*entry);
        }
    } else if (CacheEntry* entry = find(watch.name()); entry && entry->has_watch(watch)) {
        visit(*entry);
    }
}

}  // namespace k8s_sd::inline v0::detail
