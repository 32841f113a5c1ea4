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

/// The referenced objects of one namespace: their references, reads and states. ServedEntries maps
/// them to watches, CacheCollection decides when they share one.
///
/// Used on the cache's strand.
class CacheNamespace final : private CacheWatch::Observer, private ServedEntries::Observer {
 public:
    /// Notified of changes; the calls must not destroy anything.
    class Observer {
     public:
        /// The value is known for the first time, or has changed.
        virtual void on_value(CacheEntry&) = 0;
        /// The permission is missing, and no state of the object is known.
        virtual void on_denied(CacheEntry&) = 0;
        /// The last reference was removed.
        virtual void on_dropped(CacheEntry&) = 0;
        /// Asks for a call of update() soon.
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

    /// Everything but the name outlives the object. \param mutex  guards the state read by status()
    CacheNamespace(std::string name, const Settings&, Observer&, std::mutex& mutex);
    CacheNamespace(const CacheNamespace&) = delete;
    CacheNamespace& operator=(const CacheNamespace&) = delete;
    ~CacheNamespace();

    CacheEntry* find(std::string_view name) const { return entries_.find(name); }
    void add_reference(std::string_view name);
    void remove_reference(std::string_view name);
    /// Records a read or a subscription, and watches the object if it was idle.
    void touch(CacheEntry&);
    /// The value was returned to the host. An immutable value needs no watch from now on.
    void on_read(CacheEntry&);
    /// Reads an immutable object again: it may have been deleted and recreated.
    void doubt(CacheEntry&);
    /// Processes the changes since the last call.
    void update();
    /// Called periodically: stops idle watches, and ends overdue transitions.
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
    void report_denied();
    CachedObjectStatus status_of(const CacheEntry&) const;

    const std::string name_;
    const Settings& settings_;
    Observer& observer_;
    std::mutex& mutex_;
    ServedEntries entries_;
    CacheCollection collection_;
    std::set<CacheEntry*> unreferenced_;  // their last reference was removed
};

}  // namespace k8s_sd::inline v0::detail
