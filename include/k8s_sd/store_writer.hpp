#pragma once

#include "k8s_sd/store.hpp"
#include "k8s_sd/time.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

/// Fills a Store: a watcher has one, and a host's test that needs objects in a store. A handle;
/// copies write to the same store. All members may be called from any thread; batches wait for each
/// other.
template <class T>
class StoreWriter {
 public:
    using Ptr = typename StoreTraits<T>::Ptr;
    using Key = typename StoreTraits<T>::Key;

    explicit StoreWriter(const Store<T>& store) noexcept : core_(store.core_) {}

    /// Changes that readers see together, or not at all if the batch is dropped or one of its
    /// members throws. Not thread-safe. Other batches wait while it lives, so it should be short,
    /// and a thread must not begin a second one.
    class Batch {
     public:
        /// Forgets all objects: what follows is a complete state.
        void clear() { batch_.clear(); }
        /// An object was added or changed; it takes the place of the one with the same key.
        void put(Ptr object) { batch_.put(std::move(object)); }
        /// An object is gone. It need not be in the store.
        void remove(const Key& key) { batch_.remove(key); }
        /// One change. Null: it was absent, or is gone.
        void apply(const Ptr& before, const Ptr& after) {
            if (after) {
                put(after);
            } else if (before) {
                remove(StoreTraits<T>::key(*before));
            }
        }
        /// Makes the changes visible. The first one says that the state is complete, and ends the
        /// waiting for that. Call it once, as the last.
        void publish() { batch_.publish(); }

     private:
        friend StoreWriter;
        explicit Batch(std::shared_ptr<detail::StoreCore<T>> core) : batch_(std::move(core)) {}
        typename detail::StoreCore<T>::Batch batch_;
    };
    /// Takes microseconds, however large the store is.
    Batch begin() { return Batch(core_); }

    /// The writer has heard from where the objects come from, see Store::last_contact(). Should be
    /// called now and then: it also lets go of what readers were reading while it was replaced.
    void contact(TimePoint when) { core_->contact(when); }
    /// There will be no complete state, or none for the time being: who waits for it is told.
    void stop() { core_->stop(); }

 private:
    std::shared_ptr<detail::StoreCore<T>> core_;
};

}  // namespace k8s_sd::inline v0
