#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A key with its hash, for lookups in sets with transparent hash and equality.
template <class Key>
struct HashedKey {
    const Key& key;
    std::size_t hash;
};

/// A set of so many elements is split.
constexpr std::size_t split_set_limit = 4096;
constexpr std::size_t split_set_parts = 256;
/// The part of an element of a set that is split. Parts have different sizes, up to twice the mean:
/// equal parts would all grow at the same time.
/// \param hash  has 24 random low bits; the tables use the low eight, and the high ones
inline std::size_t split_set_part(std::size_t hash) noexcept {
    constexpr std::size_t last = split_set_parts - 1;
    return std::max(hash >> 8U & last, hash >> 16U & last);
}
/// The part of an element of a set that is not split.
constexpr std::size_t not_split = split_set_parts;

/// A set of very many elements that never stops its thread for long: a large one consists of parts,
/// each of which grows alone. A single table of half a million elements moves all of them when it
/// grows, which takes tens of milliseconds.
/// \tparam Hash   its values must have 24 random low bits
template <class Element, class Hash, class Equal>
class SplitSet {
    struct KnownHash : Hash {
        explicit KnownHash(const Hash& hash) : Hash(hash) {}
        using Hash::operator();
        template <class Key>
        std::size_t operator()(const HashedKey<Key>& key) const noexcept {
            return key.hash;
        }
    };
    struct KnownEqual : Equal {
        explicit KnownEqual(const Equal& equal) : Equal(equal) {}
        using Equal::operator();
        template <class Key>
        bool operator()(const HashedKey<Key>& key, const Element& element) const noexcept {
            return Equal::operator()(key.key, element);
        }
        template <class Key>
        bool operator()(const Element& element, const HashedKey<Key>& key) const noexcept {
            return Equal::operator()(element, key.key);
        }
    };
    using Part = boost::unordered_flat_set<Element, KnownHash, KnownEqual>;

 public:
    SplitSet() : SplitSet(Hash(), Equal()) {}
    SplitSet(const Hash& hash, const Equal& equal)
        : whole_(0, KnownHash(hash), KnownEqual(equal)) {}

    /// Null: no such element. Valid until the next insertion or removal.
    template <class Key>
    const Element* find(const Key& key) const {
        const HashedKey<Key> hashed{key, hash_of(key)};
        const Part& part = parts_.empty() ? whole_ : parts_[split_set_part(hashed.hash)];
        const auto it = part.find(hashed);
        return it == part.end() ? nullptr : &*it;
    }
    /// The set must not contain an equal element. \returns the element in the set
    const Element& insert(Element element) {
        if (parts_.empty() && whole_.size() == split_set_limit) split();
        Part& part = parts_.empty() ? whole_ : parts_[split_set_part(hash_of(element))];
        const Element& inserted = *part.insert(std::move(element)).first;
        ++size_;
        return inserted;
    }
    template <class Key>
    void erase(const Key& key) {
        const HashedKey<Key> hashed{key, hash_of(key)};
        Part& part = parts_.empty() ? whole_ : parts_[split_set_part(hashed.hash)];
        const auto it = part.find(hashed);
        if (it == part.end()) return;
        part.erase(it);
        if (--size_ == 0) parts_ = std::vector<Part>();
    }
    /// Erases elements in bounded steps. Elements may come and go between two of them.
    /// \param first      the part to begin with: 0, then the previous result
    /// \param limit      erases no more elements; visits 16 times as many and a part more
    /// \param predicate  is called with an element and its part; see split_set_part()
    /// \returns the part to go on with; split_set_parts: all elements have been visited
    template <class Predicate>
    std::size_t erase_some(std::size_t first, std::size_t limit, Predicate predicate) {
        const bool is_whole = parts_.empty();
        const std::size_t end = is_whole ? 1 : parts_.size();
        std::size_t number = is_whole ? 0 : first;
        std::size_t erased = 0;
        for (std::size_t visited = 0; number < end && visited / 16 < limit; ++number) {
            Part& part = is_whole ? whole_ : parts_[number];
            visited += part.size();
            erased += erase_from(part, limit - erased, [&](const Element& element) {
                return predicate(element, is_whole ? not_split : number);
            });
            if (erased == limit) break;
        }
        size_ -= erased;
        if (size_ == 0) parts_ = std::vector<Part>();
        return number < end ? number : split_set_parts;
    }
    template <class Visit>
    void for_each(Visit visit) const {
        const auto visit_part = [&](const Part& part) {
            for (const Element& element : part) visit(element);
        };
        visit_part(whole_);
        for (const Part& part : parts_) visit_part(part);
    }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

 private:
    template <class Key>
    std::size_t hash_of(const Key& key) const noexcept {
        return whole_.hash_function()(key);
    }
    /// \returns the number of erased elements, at most `limit`
    template <class Predicate>
    static std::size_t erase_from(Part& part, std::size_t limit, Predicate predicate) {
        std::size_t erased = 0;
        for (auto it = part.begin(); it != part.end() && erased < limit;) {
            const auto here = it++;
            if (!predicate(*here)) continue;
            part.erase(here);
            ++erased;
        }
        return erased;
    }
    Part empty_part() const { return Part(0, whole_.hash_function(), whole_.key_eq()); }
    void split() {
        std::array<std::size_t, split_set_parts> sizes{};
        for (const Element& element : whole_) ++sizes[split_set_part(hash_of(element))];
        std::vector<Part> parts;
        parts.reserve(split_set_parts);
        for (const std::size_t size : sizes) {
            parts.push_back(empty_part());
            parts.back().reserve(size);  // elements; the constructor takes a number of slots
        }
        // From here on nothing allocates, so an exception loses no element.
        for (const Element& element : whole_) {
            const std::size_t part = split_set_part(hash_of(element));
            parts[part].insert(std::move(const_cast<Element&>(element)));
        }
        parts_ = std::move(parts);
        whole_ = empty_part();
    }

    // One of them is empty.
    Part whole_;
    std::vector<Part> parts_;
    std::size_t size_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
