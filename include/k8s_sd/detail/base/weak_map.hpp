#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Values owned elsewhere, by key. An entry is erased with its value, because a key may hold
/// secrets. Thread-safe; values may outlive the map.
template <class Key, class Value>
class WeakMap {
 public:
    /// Null if there is no entry, or its value is gone.
    std::shared_ptr<Value> find(const Key& key) const {
        const std::lock_guard lock(state_->mutex);
        const auto it = state_->entries.find(key);
        return it == state_->entries.end() ? nullptr : it->second.lock();
    }
    /// \param dispose  receives the value once its last owner releases it
    template <class Dispose = std::default_delete<Value>>
    std::shared_ptr<Value> add(const Key& key, std::unique_ptr<Value> value, Dispose dispose = {}) {
        std::shared_ptr<Value> shared(value.release(),
                                      [weak = std::weak_ptr(state_), dispose](Value* last) mutable {
                                          if (const auto state = weak.lock())
                                              state->forget_expired();
                                          dispose(last);
                                      });
        const std::lock_guard lock(state_->mutex);
        state_->entries.insert_or_assign(key, shared);
        return shared;
    }
    std::size_t size() const {
        const std::lock_guard lock(state_->mutex);
        return state_->entries.size();
    }

 private:
    using Entries = std::map<Key, std::weak_ptr<Value>>;
    struct State {
        void forget_expired() {
            Entries expired;  // destroyed after the lock is released
            const std::lock_guard lock(mutex);
            for (auto it = entries.begin(); it != entries.end();) {
                const auto here = it++;
                if (here->second.expired()) expired.insert(entries.extract(here));
            }
        }
        mutable std::mutex mutex;
        Entries entries;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace k8s_sd::inline v0::detail
