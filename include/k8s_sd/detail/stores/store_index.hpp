#pragma once

#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/stores/trie.hpp"
#include "k8s_sd/objects/store_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

template <class T>
typename StoreTraits<T>::Key key_of(const T& object) noexcept {
    return StoreTraits<T>::key(object);
}

/// Seeded, because object names are chosen by third parties: a known hash would allow collision
/// attacks.
inline KeyedHash key_hash(unsigned round) noexcept {
    const HashKey& key = hash_key();
    return KeyedHash({key.a ^ round, key.b});
}
inline std::uint64_t hash_of_key(std::string_view key, unsigned round) noexcept {
    return key_hash(round).add(key).finish();
}
inline std::uint64_t hash_of_key(const ObjectKey& key, unsigned round) noexcept {
    return key_hash(round).add(key.ns).add(key.name).finish();
}

/// An object with its key, so a lookup need not load the object to find the key's address.
template <class T>
struct KeyedObject {
    explicit KeyedObject(typename StoreTraits<T>::Ptr ptr) noexcept
        : key(key_of(*ptr)), object(std::move(ptr)) {}

    typename StoreTraits<T>::Key key;  ///< a view of the object
    typename StoreTraits<T>::Ptr object;
};

/// The Trie of a store.
template <class T>
struct ObjectsByKey {
    using Element = KeyedObject<T>;
    using Key = typename StoreTraits<T>::Key;
    static Key key(const Element& element) noexcept { return element.key; }
    static std::uint64_t hash(const Key& key, unsigned round) noexcept {
        return hash_of_key(key, round);
    }
};

/// Returns the index keys of an object.
template <class T>
using IndexFunction = std::function<void(const T&, IndexKeys&)>;

/// Sorted and unique keys, as views of the object; none for null.
template <class T>
std::vector<std::string_view> keys_of(const T* object, const IndexFunction<T>& function) {
    IndexKeys keys;
    if (object) function(*object, keys);
    return Access::sorted(std::move(keys));
}

/// The objects of each key. Copies are free, see Trie.
template <class T>
class StoreIndex {
 public:
    using Ptr = typename StoreTraits<T>::Ptr;

    /// One of the objects of a key, or null.
    const Ptr* find(std::string_view key) const noexcept {
        const IndexEntry* entry = entries_.find(key);
        return entry ? &entry->first : nullptr;
    }
    template <class Visitor>
    void for_each(std::string_view key, Visitor&& visit) const {
        const IndexEntry* entry = entries_.find(key);
        if (!entry) return;
        visit(entry->first);
        entry->others.for_each([&](const KeyedObject<T>& other) { visit(other.object); });
    }

    /// Replaces `before` with `after`; either may be null.
    void update(const Ptr& before, const Ptr& after, const IndexFunction<T>& function) {
        const auto old_keys = keys_of(before.get(), function);
        const auto keys = keys_of(after.get(), function);
        for (const std::string_view key : keys) put(key, after);
        std::vector<std::string_view> gone;
        std::set_difference(old_keys.begin(), old_keys.end(), keys.begin(), keys.end(),
                            std::back_inserter(gone));
        for (const std::string_view key : gone) remove(key, *before, function);
    }

 private:
    /// Optimized for keys with one object.
    struct IndexEntry {
        std::string_view key;  ///< a view of `first`
        Ptr first;
        Trie<ObjectsByKey<T>> others;
    };
    struct Entries {
        using Element = IndexEntry;
        using Key = std::string_view;
        static Key key(const IndexEntry& entry) noexcept { return entry.key; }
        static std::uint64_t hash(Key key, unsigned round) noexcept {
            return hash_of_key(key, round);
        }
    };

    void put(std::string_view key, const Ptr& object) {
        IndexEntry* entry = entries_.edit(key);
        if (!entry) {
            entries_.insert({key, object, {}});
        } else if (key_of(*entry->first) == key_of(*object)) {
            entry->key = key;
            entry->first = object;
        } else {
            entry->others.put(KeyedObject<T>(object));
        }
    }
    void remove(std::string_view key, const T& object, const IndexFunction<T>& function) {
        IndexEntry* entry = entries_.edit(key);
        if (!entry) return;
        if (key_of(*entry->first) != key_of(object)) return entry->others.remove(key_of(object));
        while (!entry->others.empty()) {
            const Ptr next = entry->others.any().object;
            entry->others.remove(key_of(*next));
            if (give(*entry, next, function)) return;
        }
        entries_.remove(key);
    }
    /// Makes the object the entry's first one, and uses its view of the key.
    static bool give(IndexEntry& entry, const Ptr& object, const IndexFunction<T>& function) {
        const auto keys = keys_of(object.get(), function);
        const auto it = std::lower_bound(keys.begin(), keys.end(), entry.key);
        if (it == keys.end() || *it != entry.key) return false;
        entry.key = *it;
        entry.first = object;
        return true;
    }

    Trie<Entries> entries_;
};

}  // namespace k8s_sd::inline v0::detail
