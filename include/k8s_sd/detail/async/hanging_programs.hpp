#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <unordered_map>

namespace k8s_sd::inline v0::detail {

/// The groups of equal programs whose last run had to be killed. They have threads of their own, so
/// however many of them hang, they delay others rarely. There, they wait for each other: one that
/// works again may find no thread in time. So after a pause a group may leave, one at a time.
/// Thread-safe.
class HangingPrograms {
 public:
    /// So many groups at most; the oldest are forgotten.
    static constexpr std::size_t max_groups = 10'000;
    /// A group may leave so long after its last run.
    static constexpr Duration pause = std::chrono::minutes(5);
    /// Between two groups that leave: with the usual timeout of 30 s, half of the 32 usual threads
    /// suffice for those that hang again.
    static constexpr Duration between_leaves = std::chrono::seconds(2);

    /// Whether a run of the group belongs to those that hang.
    bool contains(std::size_t group, TimePoint now) {
        const std::lock_guard lock(mutex_);
        const auto known = groups_.find(group);
        if (known == groups_.end()) return false;
        if (now - known->second < pause || now < next_leave_) return true;
        next_leave_ = now + between_leaves;
        groups_.erase(known);
        return false;
    }
    /// A run has ended. Without memory the group is not added: its next run delays others again.
    void note(std::size_t group, ProgramRunner::Result::End end, TimePoint now) noexcept try {
        using enum ProgramRunner::Result::End;
        if (end == not_started || end == killed) return;
        const std::lock_guard lock(mutex_);
        groups_.erase(group);
        if (end != timed_out) return;
        if (groups_.size() == max_groups) forget_oldest();
        groups_.emplace(group, now);
    } catch (const std::exception&) {
    }

 private:
    void forget_oldest() {
        groups_.erase(std::min_element(groups_.begin(), groups_.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; }));
    }

    std::mutex mutex_;
    std::unordered_map<std::size_t, TimePoint> groups_;  ///< the end of the last run
    TimePoint next_leave_{};
};

}  // namespace k8s_sd::inline v0::detail
