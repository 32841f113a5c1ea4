#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// The bookmark interval of a server, measured over all its watches. It is the median of the last
/// intervals: a busy server or a stopped process does not distort it, and it adapts to a new
/// interval after a few bookmarks. Thread-safe.
class BookmarkCadence {
 public:
    void add(Duration interval) {
        const std::lock_guard lock(mutex_);
        last_[added_++ % last_.size()] = interval;
    }
    /// nullopt before the first interval.
    std::optional<Duration> interval() const {
        const std::lock_guard lock(mutex_);
        const std::size_t count = std::min(added_, last_.size());
        if (count == 0) return std::nullopt;
        auto sorted = last_;
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
        return sorted[count / 2];
    }

 private:
    mutable std::mutex mutex_;
    std::array<Duration, 8> last_{};
    std::size_t added_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
