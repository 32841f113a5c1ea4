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

/// Whom an object is for: a set of small numbers.
class Audience {
 public:
    void add(std::size_t party) {
        const std::size_t word = party / bits;
        if (word >= words_.size()) words_.resize(word + 1);
        words_[word] |= std::uint64_t{1} << (party % bits);
    }
    bool has(std::size_t party) const noexcept {
        const std::size_t word = party / bits;
        return word < words_.size() && (words_[word] >> (party % bits) & 1U) != 0;
    }
    bool empty() const noexcept { return words_.empty(); }
    void clear() noexcept { words_.clear(); }
    bool operator==(const Audience&) const = default;
    friend std::size_t hash_value(const Audience& audience) noexcept {
        return boost::hash_range(audience.words_.begin(), audience.words_.end());
    }

 private:
    static constexpr std::size_t bits = 64;
    std::vector<std::uint64_t> words_;  // the last one is not zero
};

/// Keeps each audience once, under a number that is small enough for every object to carry it.
class AudienceTable {
 public:
    using Id = std::uint16_t;
    /// Of the empty audience.
    static constexpr Id nobody = 0;
    /// How many there may be besides the empty one. The number behind them is never given.
    static constexpr std::size_t capacity = 65534;

    /// Nothing if the table is full.
    std::optional<Id> id_of(const Audience& audience) {
        if (audience.empty()) return nobody;
        if (const auto it = ids_.find(audience); it != ids_.end()) return it->second;
        if (size() == capacity) return std::nullopt;
        const Id id = next_id();
        audiences_[id - 1U] = audience;
        ids_.emplace(audience, id);
        return id;
    }
    bool has(Id id, std::size_t party) const noexcept {
        return id != nobody && audiences_[id - 1U].has(party);
    }
    std::size_t size() const noexcept { return ids_.size(); }
    /// Frees the other numbers.
    /// \param used  by number: whether an object carries it
    void keep_only(const std::vector<bool>& used) {
        boost::unordered::erase_if(ids_, [&](const auto& known) {
            if (used[known.second]) return false;
            audiences_[known.second - 1U] = {};
            free_.push_back(known.second);
            return true;
        });
    }
    void clear() {
        audiences_.clear();
        free_.clear();
        ids_.clear();
    }

 private:
    Id next_id() {
        if (free_.empty()) {
            audiences_.emplace_back();
            return static_cast<Id>(audiences_.size());
        }
        const Id id = free_.back();
        free_.pop_back();
        return id;
    }

    std::vector<Audience> audiences_;  // by number, from 1
    std::vector<Id> free_;             // numbers that were given before
    boost::unordered_flat_map<Audience, Id, boost::hash<Audience>> ids_;
};

}  // namespace k8s_sd::inline v0::detail
