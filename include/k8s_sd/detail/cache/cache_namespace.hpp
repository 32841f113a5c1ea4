#pragma once

#include "k8s_sd/cache/object_cache_status.hpp"
#include "k8s_sd/detail/cache/cache_entry.hpp"
#include "k8s_sd/detail/cache/cache_watch.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The objects of one namespace that somebody refers to, and which watch serves which of them:
/// one each, or, where there are many, one of the collection.
///
/// An object changes over to another watch when that has been synced and both know the same of it
/// (or the old one fails): so a host sees no step back, and no gap. Objects that come while a
/// collection is watched get watches of their own; when those are too many, a new watch of the
/// collection takes over all of them.
///
/// Belongs to the cache's strand.
class CacheNamespace final : public CacheWatch::Owner {
 public:
    /// Told of what happens; nothing may be destroyed in these calls.
    class Host {
     public:
        /// The value is known, anew or for the first time.
        virtual void on_value(CacheEntry&) = 0;
        /// The permission is missing, and nothing is known of the object.
        virtual void on_denied(CacheEntry&) = 0;
        /// Nobody refers to it any more.
        virtual void on_dropped(CacheEntry&) = 0;
        /// update() is to be called soon.
        virtual void schedule(CacheNamespace&) = 0;
        virtual TimePoint now() const = 0;

     protected:
        ~Host() = default;
    };
    struct Settings {
        CacheWatchSetup watches;
        std::size_t collection_threshold = 0;
        Duration max_idle{};
    };

    /// All but the name outlive the object. \param mutex  guards what status() reads
    CacheNamespace(std::string name, const Settings&, Host&, std::mutex& mutex);
    CacheNamespace(const CacheNamespace&) = delete;
    CacheNamespace& operator=(const CacheNamespace&) = delete;
    ~CacheNamespace();

    CacheEntry* find(std::string_view name);
    void add_reference(std::string_view name);
    void remove_reference(std::string_view name);
    /// Somebody reads or follows the object: it is watched, if it was not.
    void touch(CacheEntry&);
    /// An immutable object was read: it needs no watch.
    void keep(CacheEntry&);
    /// Does what follows from the changes since the last call.
    void update();
    /// To be called now and then: stops what is idle, and ends what takes too long.
    void tidy();
    bool empty() const noexcept { return entries_.empty(); }
    template <class Visit>
    void for_each(Visit visit) {
        for (const auto& entry : entries_) visit(*entry);
    }

    // Under the mutex, on any thread.
    CachedNamespaceStatus status() const;
    void append_status(std::vector<CachedObjectStatus>&) const;
    std::optional<CachedObjectStatus> status(std::string_view name) const;

    void on_object(CacheWatch&, std::string_view name, const ObjectPtr& after) override;
    void on_synced(CacheWatch&) override;
    void on_status(CacheWatch&) override;
    bool wants(const CacheWatch&, std::string_view name) override;

 private:
    Metrics& metrics() const { return *settings_.watches.metrics; }
    template <class Visit>
    void for_each_of(const CacheWatch&, Visit);
    void replace(std::shared_ptr<CacheWatch>&, std::shared_ptr<CacheWatch> by);
    void watch_singly(CacheEntry&, std::shared_ptr<CacheWatch> CacheEntry::*place);
    void drop_unreferenced();
    void serve();
    bool may_collect() const;
    std::size_t single_watches() const;
    std::size_t watched_singly() const;
    std::size_t watched() const;
    void join_collection();
    void leave_collection();
    void leave_if_few();
    void on_forbidden(CacheWatch&);
    void doubt_joining();
    void postpone_collection();
    void refuse_collection(const CacheWatch&);
    void probe(const CacheWatch&);
    void change_over_if_agreed(CacheEntry&);
    void change_over(CacheEntry&, ObjectPtr found);
    void let_go(CacheEntry&);
    void stop(CacheEntry&);
    void stop_idle();
    void end_disagreements();
    void set_value(CacheEntry&, ObjectPtr);
    bool is_idle(const CacheEntry&) const;
    CachedObjectStatus status_of(const CacheEntry&) const;

    const std::string name_;
    const Settings& settings_;
    Host& host_;
    std::mutex& mutex_;
    CacheEntries entries_;
    std::set<CacheEntry*> unserved_;        // they need a watch
    std::set<CacheEntry*> doubtful_;        // their last reference went
    std::weak_ptr<CacheWatch> collection_;  // that serves objects
    std::weak_ptr<CacheWatch> joining_;     // that will
    std::weak_ptr<CacheWatch> doubted_;     // joining_, if it takes long
    std::set<std::string> denied_;          // that may not be watched singly
    bool leaving_ = false;                  // the collection's objects get watches of their own
    TimePoint no_collection_before_ = TimePoint::min();
};

}  // namespace k8s_sd::inline v0::detail
