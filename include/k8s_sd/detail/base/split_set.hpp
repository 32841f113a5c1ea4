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
    /// The set is split when it reaches this size.
    static constexpr std::size_t max_unsplit = 4096;

    SplitSet() : SplitSet(Hash(), Equal()) {}
    SplitSet(const Hash& hash, const Equal& equal)
        : whole_(0, KnownHash(hash), KnownEqual(equal)) {}

    /// Null: no such element. Valid until the next insertion or removal.
    template <class Key>
    const Element* find(const Key& key) const {
        const HashedKey<Key> hashed{key, hash_of(key)};
        const Part& part = parts_.empty() ? whole_ : parts_[part_of(hashed.hash)];
        const auto it = part.find(hashed);
        return it == part.end() ? nullptr : &*it;
    }
    /// The set must not contain an equal element. \returns the element in the set
    const Element& insert(Element element) {
        if (parts_.empty() && whole_.size() == max_unsplit) split();
        Part& part = parts_.empty() ? whole_ : parts_[part_of(hash_of(element))];
        const Element& inserted = *part.insert(std::move(element)).first;
        ++size_;
        return inserted;
    }
    template <class Key>
    void erase(const Key& key) {
        const HashedKey<Key> hashed{key, hash_of(key)};
        Part& part = parts_.empty() ? whole_ : parts_[part_of(hashed.hash)];
        const auto it = part.find(hashed);
        if (it == part.end()) return;
        part.erase(it);
        if (--size_ == 0) parts_ = std::vector<Part>();
    }
    template <class Predicate>
    void erase_if(Predicate predicate) {
        for_each_part([&](Part& part) {
            for (auto it = part.begin(); it != part.end();) {
                const auto here = it++;
                if (!predicate(*here)) continue;
                part.erase(here);
                --size_;
            }
        });
        if (size_ == 0) parts_ = std::vector<Part>();
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
    static constexpr std::size_t part_count = 256;

    /// Parts of different sizes, up to twice the mean: equal parts would all grow at the same time.
    /// The tables use the low eight bits of a hash, and the high ones.
    static std::size_t part_of(std::size_t hash) noexcept {
        return std::max(hash >> 8U & (part_count - 1), hash >> 16U & (part_count - 1));
    }
    template <class Key>
    std::size_t hash_of(const Key& key) const noexcept {
        return whole_.hash_function()(key);
    }
    Part empty_part() const { return Part(0, whole_.hash_function(), whole_.key_eq()); }
    template <class Visit>
    void for_each_part(Visit visit) {
        visit(whole_);
        for (Part& part : parts_) visit(part);
    }
    void split() {
        std::array<std::size_t, part_count> sizes{};
        for (const Element& element : whole_) ++sizes[part_of(hash_of(element))];
        std::vector<Part> parts;
        parts.reserve(part_count);
        for (const std::size_t size : sizes) {
            parts.push_back(empty_part());
            parts.back().reserve(size);  // elements; the constructor takes a number of slots
        }
        // From here on nothing allocates, so an exception loses no element.
        for (const Element& element : whole_) {
            const std::size_t part = part_of(hash_of(element));
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
