#pragma once

#include "k8s_sd/detail/cache/collection_policy.hpp"
#include "k8s_sd/detail/cache/served_entries.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The watch of the whole collection of a namespace, if there is one: does what a CollectionPolicy
/// decides. Objects that come while a collection is watched get watches of their own; when those
/// are too many, a new watch of the collection takes over all of them.
///
/// Belongs to the cache's strand.
class CacheCollection {
 public:
    /// All but the policy outlive the object. \param mutex  guards what is_refused() reads
    CacheCollection(CollectionPolicy, ServedEntries&, const Clock&, Metrics&, std::mutex& mutex);
    CacheCollection(const CacheCollection&) = delete;
    CacheCollection& operator=(const CacheCollection&) = delete;

    /// The objects or their watches have changed.
    void update();
    /// To be called now and then.
    void check();
    /// How many objects may get watches of their own now.
    std::size_t room() const;
    /// What serves objects now; may be null.
    std::shared_ptr<CacheWatch> serving() const;
    /// Any thread, under the mutex.
    bool is_refused() const;

    void on_synced(CacheWatch&);
    /// The server has refused a watch of the collection.
    void on_forbidden(CacheWatch&);
    /// An object of a forbidden collection has got a watch of its own.
    void on_single_allowed();
    /// An object of the collection may not have a watch of its own.
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
    Policy::State state_;  // what is_refused() reads is changed under the mutex
};

}  // namespace k8s_sd::inline v0::detail
