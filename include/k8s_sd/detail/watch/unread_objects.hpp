#pragma once

#include "k8s_sd/time.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Keys of the objects with unknown state: the last version of each was unreadable. A complete list
/// keeps only those that were unreadable in it. No I/O.
class UnreadObjects {
 public:
    /// Stands for all objects without a name, and precedes the keys of all others.
    static constexpr std::string_view nameless = "/";

    static std::string key(std::string_view ns, std::string_view name) {
        return std::string(ns) + "/" + std::string(name);
    }

    void begin_list() noexcept { since_list_.clear(); }
    /// The list is complete. The status changes with it anyway, so this is no change.
    void finish_list() { keys_ = std::exchange(since_list_, {}); }
    void add(const std::string& key, TimePoint now) {
        since_list_.insert(key);
        if (keys_.empty()) since_ = now;
        if (keys_.insert(key).second) changed_ = true;
    }
    /// The object is readable again, or gone.
    void remove(std::string_view ns, std::string_view name) {
        if (keys_.empty()) return;
        const std::string removed = key(ns, name);
        since_list_.erase(removed);
        if (keys_.erase(removed) > 0) changed_ = true;
    }
    /// Whether objects were added or removed since the last call, except by finish_list().
    bool take_change() noexcept { return std::exchange(changed_, false); }

    bool empty() const noexcept { return keys_.empty(); }
    std::size_t size() const noexcept { return keys_.size(); }
    bool contains(std::string_view ns, std::string_view name) const {
        return !keys_.empty() && keys_.contains(key(ns, name));
    }
    /// The first key; requires !empty().
    const std::string& first() const { return *keys_.begin(); }
    /// When the first of the present objects was added.
    TimePoint since() const noexcept { return since_; }

 private:
    using Keys = std::set<std::string, std::less<>>;

    Keys keys_;
    Keys since_list_;  // since the start of the last list
    TimePoint since_{};
    bool changed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
