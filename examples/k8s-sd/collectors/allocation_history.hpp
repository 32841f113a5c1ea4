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

namespace bridge {

/// The allocation as collectors come and go. Not thread-safe; has no clock.
class AllocationHistory {
 public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// \param handover  how long who had a target keeps it, when another one has it now
    AllocationHistory(const Collectors::Options& options, std::chrono::nanoseconds handover)
        : options_(options), handover_(handover) {}

    /// \param idle  collectors that are there and shall have nothing
    void set(std::vector<Collector> members, std::set<std::string, std::less<>> idle,
             TimePoint now);
    /// Ends handovers whose time is over.
    void advance(TimePoint now);
    /// When the next one ends; nullopt: none is under way.
    std::optional<TimePoint> next_end() const;
    /// The same object as long as everybody keeps what they have: lists are divided by it. Null
    /// before the first set().
    const AllocationViewPtr& view() const noexcept { return view_; }
    /// Collectors that are there and have nothing.
    const std::set<std::string, std::less<>>& idle() const noexcept { return idle_; }
    /// Whether it can be said what the collector has, be it nothing.
    bool knows(std::string_view name) const noexcept {
        return idle_.contains(name) || (view_ && view_->contains(name));
    }

 private:
    /// Beyond it the oldest handover ends early: members that come and go cost no more.
    static constexpr std::size_t most_earlier = 4;
    struct Earlier {
        CollectorsPtr collectors;
        TimePoint until;
    };

    void make_view();

    const Collectors::Options options_;
    const std::chrono::nanoseconds handover_;
    CollectorsPtr present_;
    std::set<std::string, std::less<>> idle_;
    std::deque<Earlier> earlier_;  ///< the newest first
    AllocationViewPtr view_;
};

}  // namespace bridge
