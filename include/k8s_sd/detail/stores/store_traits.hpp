#pragma once

#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/objects/store_keys.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

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

}  // namespace k8s_sd::inline v0::detail
