#pragma once

#include "lists/list_body.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

/// A bounded cache by name; the oldest value is dropped first.
/// \tparam Value  a shared_ptr; null if nothing is found
template <class Value>
class Recent {
 public:
    Recent(std::size_t max_values, std::size_t max_bytes)
        : max_values_(max_values), max_bytes_(max_bytes) {}

    Value find(const std::string& name) const {
        const auto it = values_.find(name);
        return it == values_.end() ? Value() : it->second.value;
    }
    void put(const std::string& name, Value value, std::size_t bytes) {
        if (bytes > max_bytes_ || values_.contains(name)) return;
        values_.emplace(name, Sized{std::move(value), bytes});
        bytes_ += bytes;
        order_.push_back(name);
        while (order_.size() > max_values_ || bytes_ > max_bytes_) {
            const auto oldest = values_.find(order_.front());
            bytes_ -= oldest->second.bytes;
            values_.erase(oldest);
            order_.pop_front();
        }
    }

 private:
    struct Sized {
        Value value;
        std::size_t bytes = 0;
    };

    const std::size_t max_values_;
    const std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    std::map<std::string, Sized> values_;
    std::deque<std::string> order_;
};

/// The version of a list, the same in every process: its tag without quotes.
std::string_view version_of(const ListBody&);

/// The lists recently sent on streams: a reconnecting or following reader gets a diff instead of a
/// whole list. A diff is computed once for all readers. Thread-safe.
class ListVersions {
 public:
    /// Limits of the cache, in number and bytes.
    struct Limits {
        std::size_t lists = 1'000;
        std::size_t list_bytes = std::size_t{64} << 20;
        std::size_t diffs = 64;
        std::size_t diff_bytes = std::size_t{16} << 20;
    };
    ListVersions() : ListVersions(Limits()) {}
    explicit ListVersions(const Limits&);

    void keep(const ListBodyPtr&);
    /// Null: no longer known.
    ListBodyPtr find(const std::string& version) const;
    /// `"from":"…","version":"…","removed":[…],"added":[…]`
    SharedText diff(const ListBody& from, const ListBody& to);

 private:
    mutable std::mutex mutex_;
    Recent<ListBodyPtr> lists_;
    Recent<SharedText> diffs_;
};

}  // namespace k8s_sd_program
