#pragma once

#include "lists/collectors.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// The allocation over time, as collectors come and go. Not thread-safe; has no clock.
class AllocationHistory {
 public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// \param handover  how long the previous owner of a target keeps it besides the new one
    AllocationHistory(const Collectors::Options& options, std::chrono::nanoseconds handover)
        : options_(options), handover_(handover) {}

    /// \param idle  present collectors without any targets
    void set(std::vector<Collector> members, std::set<std::string, std::less<>> idle,
             TimePoint now);
    /// Ends expired handovers.
    void advance(TimePoint now);
    /// When the next handover ends; nullopt: none is in progress.
    std::optional<TimePoint> next_end() const;
    /// The same object as long as the allocation is unchanged: lists are divided by it. Null before
    /// the first set().
    const AllocationViewPtr& view() const noexcept { return view_; }
    /// Present collectors without targets.
    const std::set<std::string, std::less<>>& idle() const noexcept { return idle_; }
    /// Whether the targets of the collector are known, even if it has none.
    bool knows(std::string_view name) const noexcept {
        return idle_.contains(name) || (view_ && view_->contains(name));
    }

 private:
    /// Beyond it the oldest handover ends early: this bounds the cost of flapping members.
    static constexpr std::size_t max_earlier = 4;
    struct Earlier {
        CollectorsPtr collectors;
        TimePoint until;
    };

    void make_view();

    const Collectors::Options options_;
    const std::chrono::nanoseconds handover_;
    CollectorsPtr present_;
    std::set<std::string, std::less<>> idle_;
    std::deque<Earlier> earlier_;  ///< newest first
    AllocationViewPtr view_;
};

}  // namespace k8s_sd_program
