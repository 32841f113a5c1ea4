#pragma once

#include "k8s_sd/kind.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The objects of a role with more than WatchOptions::max_targets_per_object targets. Their groups
/// stay as they were. Thread-safe.
class OverfullObjects {
 public:
    bool empty() const {
        const std::lock_guard lock(mutex_);
        return names_.empty();
    }
    void add(std::string_view ns, std::string_view name, TimePoint now);
    void remove(std::string_view ns, std::string_view name);
    void clear() {
        const std::lock_guard lock(mutex_);
        names_.clear();
    }
    /// Adds an error to the status of the watches of these objects, unless they have another one.
    /// \param limit  the limit for each object
    void add_to(std::vector<WatchStatus>& statuses, Kind kind, std::size_t limit) const;

 private:
    using Names = std::set<std::string, std::less<>>;

    mutable std::mutex mutex_;
    std::map<std::string, Names, std::less<>> names_;  ///< by namespace
    TimePoint since_{};                                ///< when the first of them was added
};

/// The problem of one such object, in words.
std::string too_many_targets(Kind kind, std::string_view ns, std::string_view name,
                             std::size_t limit);

}  // namespace k8s_sd::inline v0::detail
