#pragma once

#include "lists/list_request.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>

namespace k8s_sd_program {

/// Readers waiting for a list of one job: for the first complete one, or for a change. Only awaited
/// lists are evaluated, and at a limited rate, however fast they change. A disconnected reader is
/// dropped within a second. Not thread-safe; it has no clock.
class WaitingReaders {
 public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;
    /// Computes the present response.
    using AnswerFor = std::function<ListAnswer(const ListRequest&)>;

    /// \param max_waiting  the limit of waiting readers
    /// \param pace  the minimum interval between evaluations of changed lists
    WaitingReaders(std::size_t max_waiting, Duration pace)
        : max_waiting_(max_waiting), pace_(pace) {}

    /// Answers at once if the list is new to the reader, or if it does not wait.
    void add(ListRequest, OnList, TimePoint now, const AnswerFor&);
    /// Lists may have changed.
    void changed() { changed_ = true; }
    /// When to call work() next.
    std::optional<TimePoint> due() const;
    /// Answers the readers of changed lists, and expired ones.
    void work(TimePoint now, const AnswerFor&);
    /// Answers all readers.
    void end(const AnswerFor&);

    std::size_t size() const noexcept { return waiting_.size(); }

 private:
    struct Waiting {
        ListRequest request;
        OnList on_list;
    };

    bool may_check(TimePoint now) const { return now >= checked_ + pace_; }
    bool full(TimePoint now);
    void forget_gone(TimePoint now);
    void deliver_news(TimePoint now, const AnswerFor&);

    const std::size_t max_waiting_;
    const Duration pace_;
    std::multimap<TimePoint, Waiting> waiting_;  ///< by deadline
    bool changed_ = false;                       ///< since the last evaluation
    TimePoint checked_{};
    std::size_t can_go_ = 0;  ///< waiting readers with a known connection
    TimePoint swept_{};       ///< the last search for disconnected ones
};

}  // namespace k8s_sd_program
