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

/// The objects of one namespace that somebody refers to, and which watch serves which of them.
///
/// An object changes over to another watch when that has been synced and both know the same of it
/// (or the old one fails): so a host sees no step back, and no gap.
///
/// Belongs to the cache's strand.
class ServedEntries {
 public:
    class Observer {
     public:
        /// The value is known, anew or for the first time.
        virtual void on_value(CacheEntry&) = 0;
        /// The entry's value comes from another watch; `from` may be null.
        virtual void on_changed_over(CacheEntry&, const CacheWatch* from) = 0;

     protected:
        ~Observer() = default;
    };
    struct Counts {
        std::size_t single = 0;    ///< objects whose only or next watch is one of their own
        std::size_t watched = 0;   ///< objects with any watch
        std::size_t unserved = 0;  ///< objects that need a watch, and have none
    };

    /// All outlive the object. \param mutex  guards what status() reads
    ServedEntries(const std::string& ns, const CacheWatchSetup&, CacheWatch::Observer&, Observer&,
                  std::mutex& mutex);
    ServedEntries(const ServedEntries&) = delete;
    ServedEntries& operator=(const ServedEntries&) = delete;

    const CacheEntrySet& all() const noexcept { return entries_; }
    CacheEntry* find(std::string_view name) const;
    /// \pre not there; the mutex is held
    CacheEntry& add(std::unique_ptr<CacheEntry>);
    void erase(CacheEntry&);
    /// Those whose value comes from the watch, or is to come from it.
    template <class Visit>
    void for_each_of(const CacheWatch&, Visit);

    /// The object is to be watched.
    void need_watch(CacheEntry& entry) { unserved_.insert(&entry); }
    bool any_unserved() const noexcept { return !unserved_.empty(); }
    /// Gives watches of their own to so many of those that have none.
    void serve(std::size_t room);
    /// Gives the object a watch of its own: the first, or the next.
    void watch_singly(CacheEntry&);
    /// Begins the watch of the collection, to which all objects are to change over.
    void begin_collection(const std::shared_ptr<CacheWatch>&);
    std::shared_ptr<CacheWatch> make_collection() { return make_watch({}); }
    /// No object is to change over to this collection.
    void drop_next(const CacheWatch& collection);
    /// Gives all objects that have a collection watches of their own, to change over to.
    void leave_collections(CacheWatch& present);
    /// The object has no watch any more.
    void let_go(CacheEntry&);
    /// To be called now and then: ends changes over that take too long.
    void end_disagreements();

    // What the watches report.
    void on_object(const CacheWatch&, std::string_view name, const ObjectPtr& after);
    void on_synced(const CacheWatch&);
    void on_revealed(const CacheWatch&);
    void on_error(const CacheWatch&);

    Counts counts() const;
    /// A watch of one object is synced, and has no error.
    bool single_works() const;
    /// Watches of one object each; under the mutex, on any thread.
    std::size_t single_watches() const;

 private:
    std::shared_ptr<CacheWatch> make_watch(std::string_view name);
    void replace(std::shared_ptr<CacheWatch>&, std::shared_ptr<CacheWatch> by);
    void change_over_if_agreed(CacheEntry&);
    void change_over(CacheEntry&, ObjectPtr found);
    void set_value(CacheEntry&, ObjectPtr);

    const std::string& ns_;
    const CacheWatchSetup& setup_;
    CacheWatch::Observer& watch_observer_;
    Observer& observer_;
    std::mutex& mutex_;
    CacheEntrySet entries_;
    std::set<CacheEntry*> unserved_;  // they need a watch
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
