#pragma once

#include "k8s_sd/kind.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The objects of a role with more than WatchOptions::max_targets_per_object targets. Their groups
/// stay as they were.
class OverfullObjects {
 public:
    bool empty() const noexcept { return names_.empty(); }
    void add(std::string_view ns, std::string_view name) { names_[std::string(ns)].emplace(name); }
    void remove(std::string_view ns, std::string_view name) {
        const auto of_namespace = names_.find(ns);
        if (of_namespace == names_.end()) return;
        const auto found = of_namespace->second.find(name);
        if (found != of_namespace->second.end()) of_namespace->second.erase(found);
        if (of_namespace->second.empty()) names_.erase(of_namespace);
    }
    /// Adds an error to the status of the watches of these objects, unless they have another one.
    /// \param limit  the limit for each object
    void add_to(std::vector<WatchStatus>& statuses, Kind kind, std::size_t limit,
                TimePoint since) const;

 private:
    using Names = std::set<std::string, std::less<>>;

    std::map<std::string, Names, std::less<>> names_;  ///< by namespace
};

/// The problem of one such object, in words.
std::string too_many_targets(Kind kind, std::string_view ns, std::string_view name,
                             std::size_t limit);

}  // namespace k8s_sd::inline v0::detail
