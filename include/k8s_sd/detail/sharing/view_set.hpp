#pragma once

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
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

    std::vector<ViewSet> sets_;  // by number, from 1
    std::vector<Id> free_;       // freed numbers
    boost::unordered_flat_map<ViewSet, Id, boost::hash<ViewSet>> ids_;
};

}  // namespace k8s_sd::inline v0::detail
