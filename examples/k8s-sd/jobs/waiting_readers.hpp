#pragma once

#include "lists/list_request.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>

namespace bridge {

/// Who waits for a list of one job: for the first complete one, or for another one than it knows.
/// Only lists that are waited for are looked at, and again and again only at a pace, however fast
/// they change. Who is gone is forgotten within a second. Not thread-safe; no clock of its own.
class WaitingReaders {
 public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;
    /// What is to be answered now.
    using Look = std::function<ListAnswer(const ListRequest&)>;

    /// \param most  further ones are not kept waiting
    /// \param pace  the least time from one look at changed lists to the next
    WaitingReaders(std::size_t most, Duration pace) : most_(most), pace_(pace) {}

    /// Answers at once if there is news for the reader, or if it does not wait.
    void add(ListRequest, OnList, TimePoint now, const Look&);
    /// Lists may be other ones now.
    void changed() { changed_ = true; }
    /// When work() has something to do.
    std::optional<TimePoint> due() const;
    /// Answers those for whom there is news, and those whose time is over.
    void work(TimePoint now, const Look&);
    /// Answers all.
    void end(const Look&);

    std::size_t size() const noexcept { return waiting_.size(); }

 private:
    struct Waiting {
        ListRequest request;
        OnList on_list;
    };

    bool may_look(TimePoint now) const { return now >= looked_ + pace_; }
    bool full(TimePoint now);
    void forget_gone(TimePoint now);
    void tell_news(TimePoint now, const Look&);

    const std::size_t most_;
    const Duration pace_;
    std::multimap<TimePoint, Waiting> waiting_;  ///< by the end of their time
    bool changed_ = false;                       ///< since the last look
    TimePoint looked_{};
    std::size_t can_go_ = 0;  ///< of those who wait: who can be gone
    TimePoint swept_{};       ///< when they were last looked for
};

}  // namespace bridge
