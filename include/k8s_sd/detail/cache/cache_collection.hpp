#pragma once

#include "k8s_sd/detail/cache/collection_policy.hpp"
#include "k8s_sd/detail/cache/served_entries.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The watch of a namespace's whole collection, if there is one; carries out the decisions of a
/// CollectionPolicy. Objects added while a collection is watched get watches of their own; once
/// these are too many, a new watch of the collection takes over all objects.
///
/// Used on the cache's strand.
class CacheCollection {
 public:
    /// Everything but the policy outlives the object. \param mutex  guards the state
    CacheCollection(CollectionPolicy, ServedEntries&, const Clock&, Metrics&, std::mutex& mutex);
    CacheCollection(const CacheCollection&) = delete;
    CacheCollection& operator=(const CacheCollection&) = delete;

    /// The objects or their watches have changed.
    void update();
    /// Called periodically.
    void check();
    /// How many more objects may get watches of their own now.
    std::size_t room() const;
    /// The collection watch serving objects now; may be null.
    std::shared_ptr<CacheWatch> serving() const;
    /// Any thread, under the mutex.
    bool is_refused() const;

    void on_synced(CacheWatch&);
    /// The server has refused a watch of the collection.
    void on_forbidden(CacheWatch&);
    /// An object of a forbidden collection has switched to a watch of its own.
    void on_single_allowed();
    /// The server has refused a watch of a single object.
    void on_single_denied(const std::string& name);

 private:
    using Policy = CollectionPolicy;

    void follow_policy(Policy::Occasion);
    void perform(Policy::Action, TimePoint now);
    Policy::Facts facts(Policy::Occasion, TimePoint now) const;
    CacheEntry* to_probe() const;
    void join();
    void leave();
    void refuse(TimePoint until);
    void probe();
    void retry();
    void end();
    void become(Policy::State);

    const CollectionPolicy policy_;
    ServedEntries& entries_;
    const Clock& clock_;
    Metrics& metrics_;
    std::mutex& mutex_;
    Policy::State state_;  // written under the mutex: is_refused() reads it
};

}  // namespace k8s_sd::inline v0::detail
