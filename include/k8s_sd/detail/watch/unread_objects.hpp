#pragma once

#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The names of the objects with an unknown state: present on the server, but unreadable.
class UnreadObjects {
 public:
    /// "namespace/name"
    static std::string key(std::string_view ns, std::string_view name) {
        return std::string(ns) + "/" + std::string(name);
    }
    /// Stands for all objects without a name.
    static std::string nameless() { return "/"; }

    void begin_list() noexcept { since_list_.clear(); }
    /// Only the objects added since begin_list() remain.
    void finish_list() { keys_ = std::exchange(since_list_, {}); }
    void add(const std::string& key, TimePoint now) {
        since_list_.insert(key);
        if (keys_.empty()) since_ = now;
        if (keys_.insert(key).second) changed_ = true;
    }
    /// The object is readable again, or gone.
    void remove(std::string_view ns, std::string_view name) {
        if (!keys_.empty()) remove(key(ns, name));
    }
    bool contains(std::string_view ns, std::string_view name) const {
        return !keys_.empty() && keys_.contains(key(ns, name));
    }
    bool empty() const noexcept { return keys_.empty(); }
    /// When the first of them was added.
    TimePoint since() const noexcept { return since_; }
    /// Whether add() or remove() has changed the names since the last call.
    bool take_change() noexcept { return std::exchange(changed_, false); }

    // Requires that there is an object.
    error_code error() const { return is_nameless() ? errc::bad_object : errc::object_too_large; }
    /// One of them, and the number of the others.
    std::string text() const {
        std::string one = is_nameless() ? "one without a name" : printable(*keys_.begin());
        if (keys_.size() == 1) return one;
        return one + " and " + std::to_string(keys_.size() - 1) + " more";
    }

 private:
    void remove(const std::string& key) {
        since_list_.erase(key);
        if (keys_.erase(key) > 0) changed_ = true;
    }
    bool is_nameless() const { return *keys_.begin() == nameless(); }

    std::set<std::string, std::less<>> keys_;
    std::set<std::string, std::less<>> since_list_;  ///< added since the start of the last list
    TimePoint since_{};
    bool changed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
