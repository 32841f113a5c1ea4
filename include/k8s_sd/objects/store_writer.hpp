#pragma once

#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/time.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

/// Fills a Store, for a watcher, or for a host's test with objects in a store. A handle; copies
/// write to the same store. All members may be called from any thread; batches wait for each other.
template <class T>
class StoreWriter {
 public:
    /// Shared ownership of an immutable object, see StoreTraits.
    using Ptr = typename StoreTraits<T>::Ptr;
    /// The key of an object, see StoreTraits.
    using Key = typename StoreTraits<T>::Key;

    /// Writes to this store, and keeps its contents alive.
    explicit StoreWriter(const Store<T>& store) noexcept : core_(store.core_) {}

    /// A set of changes, visible to readers all at once, or not at all if the batch is destroyed
    /// unpublished or one of its members throws. Not thread-safe. Other batches wait during its
    /// lifetime, so keep it short; a thread must not begin a second one meanwhile.
    class Batch {
     public:
        /// Drops all objects, before a complete state.
        void clear() { batch_.clear(); }
        /// Adds an object or replaces the one with the same key.
        void put(Ptr object) { batch_.put(std::move(object)); }
        /// Removes an object, if present.
        void remove(const Key& key) { batch_.remove(key); }
        /// Applies one change. A null pointer means absent.
        void apply(const Ptr& before, const Ptr& after) {
            if (after) {
                put(after);
            } else if (before) {
                remove(StoreTraits<T>::key(*before));
            }
        }
        /// Makes the changes visible. The first call marks the state as complete and completes
        /// pending waits for it. Must be the last call, once.
        void publish() { batch_.publish(); }

     private:
        friend StoreWriter;
        explicit Batch(std::shared_ptr<detail::StoreCore<T>> core) : batch_(std::move(core)) {}
        typename detail::StoreCore<T>::Batch batch_;
    };
    /// Begins a batch. Takes microseconds, whatever the size of the store.
    Batch begin() { return Batch(core_); }

    /// Reports contact with the origin of the objects, see Store::last_contact(). Should be called
    /// periodically: it also releases replaced objects no longer in use by readers.
    void contact(TimePoint when) { core_->contact(when); }
    /// Reports that there will be no complete state, at least for now: pending waits for it fail.
    void stop() { core_->stop(); }

 private:
    std::shared_ptr<detail::StoreCore<T>> core_;
};

}  // namespace k8s_sd::inline v0
