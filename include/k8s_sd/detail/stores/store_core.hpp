#pragma once

#include "k8s_sd/detail/async/sync_waits.hpp"
#include "k8s_sd/detail/stores/published.hpp"
#include "k8s_sd/detail/stores/store_index.hpp"
#include "k8s_sd/detail/stores/trie.hpp"
#include "k8s_sd/time.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// One generation of a store. Immutable after publication.
template <class T>
struct StoreState : boost::intrusive_ref_counter<StoreState<T>> {
    std::uint64_t generation = 0;
    bool synced = false;
    std::size_t size = 0;
    Trie<ObjectsByKey<T>> objects;
    std::vector<StoreIndex<T>> indexes;

    /// \returns null if there is none
    const typename StoreTraits<T>::Ptr* find(
        const typename StoreTraits<T>::Key& key) const noexcept {
        const KeyedObject<T>* element = objects.find(key);
        return element ? &element->object : nullptr;
    }
};

/// State shared by the handles of a store.
template <class T>
class StoreCore {
 public:
    using Ptr = typename StoreTraits<T>::Ptr;
    using Key = typename StoreTraits<T>::Key;
    using State = StoreState<T>;

    StoreCore() : states_(new State) {}
    ~StoreCore() { stop(); }
    StoreCore(const StoreCore&) = delete;
    StoreCore& operator=(const StoreCore&) = delete;

    // Any thread.
    const Published<State>& states() const noexcept { return states_; }
    const std::shared_ptr<SyncWaits>& waits() const noexcept { return waits_; }
    std::optional<TimePoint> last_contact() const noexcept {
        const TimePoint when(Duration(last_contact_.load(std::memory_order_relaxed)));
        return when == never ? std::nullopt : std::optional(when);
    }
    /// \returns its position in the indexes of each later state
    std::size_t add_index(IndexFunction<T>);

    // For the writer.
    class Batch;
    void contact(TimePoint when) {
        last_contact_.store(when.time_since_epoch().count(), std::memory_order_relaxed);
        // A concurrent batch releases them at its end.
        const std::unique_lock lock(writing_, std::try_to_lock);
        if (lock) states_.release_replaced();
    }
    void stop() noexcept { waits_->stop(); }

 private:
    static constexpr TimePoint never = TimePoint::min();

    Published<State> states_;
    const std::shared_ptr<SyncWaits> waits_ = std::make_shared<SyncWaits>();
    std::atomic<Duration::rep> last_contact_ = never.time_since_epoch().count();

    std::mutex writing_;  // guards the members below and publication; readers do not lock it
    std::vector<IndexFunction<T>> functions_;
};

/// A batch of changes, visible together after publication, else discarded.
template <class T>
class StoreCore<T>::Batch {
 public:
    explicit Batch(std::shared_ptr<StoreCore> core)
        : core_(std::move(core)),
          lock_(core_->writing_),
          state_(new State(*core_->states_.get())) {}

    void clear() {
        state_->size = 0;
        state_->objects = {};
        state_->indexes.assign(state_->indexes.size(), {});
        changed_ = true;
    }
    void put(Ptr object) {
        KeyedObject<T> added(object);
        if (KeyedObject<T>* known = state_->objects.edit(added.key)) {
            if (known->object == object) return;
            const KeyedObject<T> before = std::exchange(*known, std::move(added));
            return update_indexes(before.object, object);
        }
        state_->objects.insert(std::move(added));
        ++state_->size;
        update_indexes(nullptr, object);
    }
    void remove(const Key& key) {
        const KeyedObject<T>* known = state_->objects.find(key);
        if (!known) return;
        const Ptr before = known->object;
        state_->objects.remove(key);
        --state_->size;
        update_indexes(before, nullptr);
    }
    void publish() {
        if (changed_ || !state_->synced) {
            ++state_->generation;
            state_->synced = true;
            core_->states_.publish(state_);
        }
        lock_.unlock();
        core_->waits_->finish({});
    }

 private:
    void update_indexes(const Ptr& before, const Ptr& after) {
        changed_ = true;
        for (std::size_t i = 0; i < state_->indexes.size(); ++i) {
            state_->indexes[i].update(before, after, core_->functions_[i]);
        }
    }

    std::shared_ptr<StoreCore> core_;
    std::unique_lock<std::mutex> lock_;
    boost::intrusive_ptr<State> state_;  // an unpublished copy
    bool changed_ = false;
};

template <class T>
std::size_t StoreCore<T>::add_index(IndexFunction<T> function) {
    const std::lock_guard lock(writing_);
    const boost::intrusive_ptr<State> next(new State(*states_.get()));
    StoreIndex<T>& index = next->indexes.emplace_back();
    next->objects.for_each(
        [&](const KeyedObject<T>& element) { index.update(nullptr, element.object, function); });
    functions_.push_back(std::move(function));
    states_.publish(next);
    return functions_.size() - 1;
}

}  // namespace k8s_sd::inline v0::detail
