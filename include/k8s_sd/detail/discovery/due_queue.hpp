#pragma once

#include "k8s_sd/time.hpp"

#include <map>
#include <unordered_map>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Unique items ordered by time. Items with the same time keep the order of insertion.
template <class Item>
class DueQueue {
 public:
    void put(TimePoint due, Item& item) {
        const auto at = by_time_.emplace(due, &item);
        try {
            entries_.emplace(&item, at);
        } catch (...) {
            by_time_.erase(at);
            throw;
        }
    }
    /// Moves the next item to a later time.
    void postpone_next(TimePoint due) noexcept {
        auto moved = by_time_.extract(by_time_.begin());
        moved.key() = due;
        const auto entry = entries_.find(moved.mapped());
        entry->second = by_time_.insert(std::move(moved));
    }
    void remove(const Item& item) {
        const auto entry = entries_.find(&item);
        if (entry == entries_.end()) return;
        by_time_.erase(entry->second);
        entries_.erase(entry);
    }
    bool contains(const Item& item) const { return entries_.contains(&item); }
    bool empty() const noexcept { return by_time_.empty(); }
    /// The earliest time and its item. \pre the queue is not empty
    TimePoint next_time() const { return by_time_.begin()->first; }
    Item& next() const { return *by_time_.begin()->second; }
    void clear() noexcept {
        entries_.clear();
        by_time_.clear();
    }

 private:
    using ByTime = std::multimap<TimePoint, Item*>;
    ByTime by_time_;
    std::unordered_map<const Item*, typename ByTime::iterator> entries_;
};

}  // namespace k8s_sd::inline v0::detail
