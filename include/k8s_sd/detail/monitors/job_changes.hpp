#pragma once

#include "k8s_sd/monitors/monitor_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The present jobs by name, and those among them that the host does not have yet.
class JobChanges {
 public:
    /// Adds a job, or replaces the one of that name.
    void put(const MonitorJobPtr&);
    void remove(const std::string& name);
    /// Number of present jobs.
    std::size_t count() const noexcept { return count_; }

    /// Whether take() may have changes.
    bool any() const noexcept { return !changed_.empty(); }
    /// The changes since the last call; in the first one all jobs. An equal job is no change.
    MonitorDiff take();
    /// Updates and removals so far, in all results of take().
    std::uint64_t taken() const noexcept { return taken_; }

 private:
    void forget_changes() noexcept;

    struct Versions {
        MonitorJobPtr present{};    ///< null: removed
        MonitorJobPtr delivered{};  ///< null: the host has none
    };

    std::map<std::string, Versions, std::less<>> jobs_;  ///< by name
    std::size_t count_ = 0;                              ///< of the present ones
    std::set<std::string> changed_;                      ///< names of those to compare
    bool is_first_ = true;                               ///< take() has not been called yet
    std::uint64_t taken_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
