#pragma once

#include "k8s_sd/objects/object.hpp"

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The set of views that an object matches, as small numbers.
class ViewSet {
 public:
    void add(std::size_t number) {
        const std::size_t word = number / bits;
        if (word >= words_.size()) words_.resize(word + 1);
        words_[word] |= std::uint64_t{1} << (number % bits);
    }
    bool has(std::size_t number) const noexcept {
        const std::size_t word = number / bits;
        return word < words_.size() && (words_[word] >> (number % bits) & 1U) != 0;
    }
    void add(const ViewSet& others) {
        if (others.words_.size() > words_.size()) words_.resize(others.words_.size());
        for (std::size_t word = 0; word < others.words_.size(); ++word)
            words_[word] |= others.words_[word];
    }
    /// Calls `visit` with each number, in ascending order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t word = 0; word < words_.size(); ++word) {
            for (std::uint64_t left = words_[word]; left != 0; left &= left - 1)
                visit(word * bits + static_cast<std::size_t>(std::countr_zero(left)));
        }
    }
    bool empty() const noexcept { return words_.empty(); }
    void clear() noexcept { words_.clear(); }
    bool operator==(const ViewSet&) const = default;
    friend std::size_t hash_value(const ViewSet& set) noexcept {
        return boost::hash_range(set.words_.begin(), set.words_.end());
    }

 private:
    static constexpr std::size_t bits = 64;
    std::vector<std::uint64_t> words_;  // the last word is not zero
};

/// Interns each set once, under a number small enough to be stored in every object.
class ViewSetTable {
 public:
    using Id = std::uint16_t;
    /// The id of the empty set.
    static constexpr Id none = 0;
    /// Maximum number of sets besides the empty one. The number after the last is never assigned.
    static constexpr std::size_t capacity = 65534;

    /// \returns nullopt if the table is full
    std::optional<Id> id_of(const ViewSet& set) {
        if (set.empty()) return none;
        if (const auto it = ids_.find(set); it != ids_.end()) return it->second;
        if (size() == capacity) return std::nullopt;
        const Id id = next_id();
        sets_[id - 1U] = set;
        ids_.emplace(set, id);
        return id;
    }
    bool has(Id id, std::size_t number) const noexcept {
        return id != none && sets_[id - 1U].has(number);
    }
    const ViewSet& set_of(Id id) const noexcept { return id == none ? empty_ : sets_[id - 1U]; }
    std::size_t size() const noexcept { return ids_.size(); }
    /// Frees all other numbers.
    /// \param used  indexed by number: whether an object carries it
    void keep_only(const std::vector<bool>& used) {
        boost::unordered::erase_if(ids_, [&](const auto& known) {
            if (used[known.second]) return false;
            sets_[known.second - 1U] = {};
            free_.push_back(known.second);
            return true;
        });
    }
    void clear() {
        sets_.clear();
        free_.clear();
        ids_.clear();
    }

 private:
    Id next_id() {
        if (free_.empty()) {
            sets_.emplace_back();
            return static_cast<Id>(sets_.size());
        }
        const Id id = free_.back();
        free_.pop_back();
        return id;
    }

    const ViewSet empty_;
    std::vector<ViewSet> sets_;  // by number, from 1
    std::vector<Id> free_;       // freed numbers
    boost::unordered_flat_map<ViewSet, Id, boost::hash<ViewSet>> ids_;
};

/// Maps each object of a kind to the set of its matching views (`ViewSet`), exact for any number
/// of sets. An object stores the number of its set; once all numbers are in use, further objects
/// are stored in a separate map with their own set. Unused numbers are freed on demand, so frequent
/// changes cannot exhaust them.
class MatchingViews {
 public:
    /// Calls the function for each object that has() may receive later.
    using ForEachObject = std::function<void(const std::function<void(const ObjectPtr&)>&)>;

    explicit MatchingViews(ForEachObject for_each) : for_each_(std::move(for_each)) {}

    /// \returns the number of the set; ObjectTag::apart if all are in use
    std::uint16_t id_of(const ViewSet&);
    /// Stores the set of an object with the number ObjectTag::apart.
    void keep_apart(const ObjectPtr&, const ViewSet&);
    bool has(const Object&, std::size_t number) const noexcept;
    /// Adds the object's set to `views`.
    void add_to(ViewSet& views, const Object&) const;
    /// Whether most numbers are in use even after unused ones were freed.
    bool crowded() const noexcept { return crowded_; }
    std::size_t kept_apart() const noexcept { return apart_.size(); }
    void clear();

 private:
    /// Freeing numbers scans all objects: scan once per this many new sets.
    static constexpr std::size_t sets_per_scan = ViewSetTable::capacity / 8;

    void free_unused();

    const ForEachObject for_each_;
    ViewSetTable table_;
    boost::unordered_flat_map<const Object*, std::pair<ObjectPtr, ViewSet>> apart_;
    std::size_t misses_ = 0;  ///< since the last scan that freed many numbers
    bool crowded_ = false;
};

}  // namespace k8s_sd::inline v0::detail
