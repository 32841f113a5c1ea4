#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Undelivered changes, one entry for each key: bounded by the number of keys, not of events.
/// Changes of one key are coalesced; a reverted change disappears.
/// \tparam Rules  has `Change`; `Key`, which may be a view of objects owned by a change, with
///                `Hash` and `Equal`; `Key key_of(const Change&)`; and
///                `Change sum_of(const Change& earlier, const Change& later)`
template <class Rules>
class CoalescedChanges {
 public:
    using Key = typename Rules::Key;
    using Change = typename Rules::Change;

    /// \param counts  bool(const Change&, bool is_sum): false for a change without effect; `is_sum`
    ///                if there was an earlier change
    template <class Counts>
    void add(const Change& change, const Counts& counts) {
        const auto earlier = changes_.find(Rules::key_of(change));
        if (earlier == changes_.end()) return keep(change, counts, false);
        Change sum = Rules::sum_of(earlier->second, change);
        changes_.erase(earlier);  // the key may be a view of an object the sum does not own
        keep(std::move(sum), counts, true);
    }
    bool empty() const noexcept { return changes_.empty(); }
    std::size_t size() const noexcept { return changes_.size(); }
    bool contains(const Key& key) const { return changes_.contains(key); }
    /// Null: none.
    const Change* find(const Key& key) const {
        const auto found = changes_.find(key);
        return found == changes_.end() ? nullptr : &found->second;
    }
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [key, change] : changes_) visit(change);
    }
    std::vector<Change> take() {
        std::vector<Change> taken;
        taken.reserve(changes_.size());
        for (auto& [key, change] : changes_) taken.push_back(std::move(change));
        clear();
        return taken;
    }
    /// Frees the memory of a burst, too.
    void clear() noexcept { changes_ = {}; }

 private:
    template <class Counts>
    void keep(Change change, const Counts& counts, bool is_sum) {
        if (!counts(std::as_const(change), is_sum)) return;
        const Key key = Rules::key_of(change);
        changes_.emplace(key, std::move(change));
    }

    boost::unordered_flat_map<Key, Change, typename Rules::Hash, typename Rules::Equal> changes_;
};

}  // namespace k8s_sd::inline v0::detail
