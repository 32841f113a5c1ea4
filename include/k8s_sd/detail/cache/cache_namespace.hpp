#pragma once

#include "k8s_sd/cache/object_cache_status.hpp"
#include "k8s_sd/detail/cache/cache_collection.hpp"
#include "k8s_sd/detail/cache/cache_entry.hpp"
#include "k8s_sd/detail/cache/cache_watch.hpp"
#include "k8s_sd/detail/cache/served_entries.hpp"
#include "k8s_sd/environment.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The objects of one namespace that somebody refers to: who refers to them, who reads them, and
/// how they are doing. ServedEntries knows which watch serves which of them, CacheCollection when
/// they have one watch together.
///
/// Belongs to the cache's strand.
class CacheNamespace final : private CacheWatch::Observer, private ServedEntries::Observer {
 public:
    /// Told of what happens; nothing may be destroyed in these calls.
    class Observer {
     public:
        /// The value is known, anew or for the first time.
        virtual void on_value(CacheEntry&) = 0;
        /// The permission is missing, and nothing is known of the object.
        virtual void on_denied(CacheEntry&) = 0;
        /// Nobody refers to it any more.
        virtual void on_dropped(CacheEntry&) = 0;
        /// update() is to be called soon.
        virtual void on_update_due(CacheNamespace&) = 0;

     protected:
        ~Observer() = default;
    };
    struct Settings {
        CacheWatchSetup watches;
        std::shared_ptr<Clock> clock;
        std::size_t collection_threshold = 0;
        Duration max_idle{};
    };

    /// All but the name outlive the object. \param mutex  guards what status() reads
    CacheNamespace(std::string name, const Settings&, Observer&, std::mutex& mutex);
    CacheNamespace(const CacheNamespace&) = delete;
    CacheNamespace& operator=(const CacheNamespace&) = delete;
    ~CacheNamespace();

    CacheEntry* find(std::string_view name) const { return entries_.find(name); }
    void add_reference(std::string_view name);
    void remove_reference(std::string_view name);
    /// Somebody reads or follows the object: it is watched, if it was not.
    void touch(CacheEntry&);
    /// Somebody was given the value. An immutable one needs no watch from now on.
    void on_read(CacheEntry&);
    /// An immutable object is read again: it may have been deleted and created again.
    void doubt(CacheEntry&);
    /// Does what follows from the changes since the last call.
    void update();
    /// To be called now and then: stops what is idle, and ends what takes too long.
    void tidy();
    bool empty() const noexcept { return entries_.all().empty(); }
    template <class Visit>
    void for_each(Visit visit) {
        for (const auto& entry : entries_.all()) visit(*entry);
    }

    // Under the mutex, on any thread.
    CachedNamespaceStatus status() const;
    void append_status(std::vector<CachedObjectStatus>&) const;
    std::optional<CachedObjectStatus> status(std::string_view name) const;

 private:
    void on_object(CacheWatch&, std::string_view name, const ObjectPtr& after) override;
    void on_synced(CacheWatch&) override;
    void on_status(CacheWatch&) override;
    bool wants(const CacheWatch&, std::string_view name) override;
    void on_value(CacheEntry&) override;
    void on_changed_over(CacheEntry&, const CacheWatch* from) override;

    Metrics& metrics() const { return *settings_.watches.metrics; }
    TimePoint now() const { return settings_.clock->now(); }
    void set_state(CacheEntry&, CachedState);
    void stop_watching(CacheEntry&);
    void drop_unreferenced();
    void stop_idle();
    bool is_idle(const CacheEntry&) const;
    void forget_value(CacheEntry&);
    void on_single_forbidden(const CacheWatch&);
    void tell_denied();
    CachedObjectStatus status_of(const CacheEntry&) const;

    const std::string name_;
    const Settings& settings_;
    Observer& observer_;
    std::mutex& mutex_;
    ServedEntries entries_;
    CacheCollection collection_;
    std::set<CacheEntry*> unreferenced_;  // their last reference is gone
};

}  // namespace k8s_sd::inline v0::detail
