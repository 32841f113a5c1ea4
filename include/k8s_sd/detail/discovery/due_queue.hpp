#pragma once

#include "k8s_sd/time.hpp"

#include <map>
#include <unordered_map>

namespace k8s_sd::inline v0::detail {

/// Who is to be served when; each once. Those of one time are served in the order they came.
template <class Item>
class DueQueue {
 public:
    void put(TimePoint due, Item& item) { entries_.emplace(&item, by_time_.emplace(due, &item)); }
    void remove(const Item& item) {
        const auto entry = entries_.find(&item);
        if (entry == entries_.end()) return;
        by_time_.erase(entry->second);
        entries_.erase(entry);
    }
    bool contains(const Item& item) const { return entries_.contains(&item); }
    bool empty() const noexcept { return by_time_.empty(); }
    /// The two of a queue that is not empty.
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
