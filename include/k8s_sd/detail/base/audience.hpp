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
    std::vector<std::uint64_t> words_;  // the last word is not zero
};

/// Interns each set once, under a number small enough to be stored in every object.
class AudienceTable {
 public:
    using Id = std::uint16_t;
    /// The id of the empty set.
    static constexpr Id nobody = 0;
    /// Maximum number of sets besides the empty one. The number after the last is never assigned.
    static constexpr std::size_t capacity = 65534;

    /// \returns nullopt if the table is full
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
    /// Frees all other numbers.
    /// \param used  indexed by number: whether an object carries it
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
    std::vector<Id> free_;             // freed numbers
    boost::unordered_flat_map<Audience, Id, boost::hash<Audience>> ids_;
};

}  // namespace k8s_sd::inline v0::detail
