#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/detail/base/due_time.hpp"

#include <boost/asio/strand.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

namespace k8s_sd::inline v0::detail {

/// Calls a host: on its executor, as if by post, one call at a time. What a call tells is taken
/// when it begins, so the newest state wins, however long the host has kept others waiting.
class Delivery {
 public:
    /// What there is to tell. Owns the delivery.
    class Source {
     public:
        /// Makes the next call if one is due, on the delivery's strand. It may throw: what was
        /// taken counts as told.
        /// \returns whether there was one
        virtual bool tell_next(TimePoint now) = 0;
        /// When the next call is due; nullopt: there is nothing to tell. Any thread.
        virtual std::optional<TimePoint> next_due(TimePoint now) = 0;

     protected:
        ~Source() = default;
    };
    using Strand = asio::strand<asio::any_io_executor>;

    /// \param origin          where changes come from: it has a turn after each turn of calls, in
    ///                        which changes are collected
    /// \param calls_per_turn  then other handlers of the host have theirs
    Delivery(const asio::any_io_executor& host, asio::any_io_executor origin,
             std::shared_ptr<Clock> clock, int calls_per_turn);
    Delivery(const Delivery&) = delete;
    Delivery& operator=(const Delivery&) = delete;
    ~Delivery();

    // Any thread.
    /// There is something to tell, or something to tell earlier than before.
    void wake(std::shared_ptr<Source>);
    /// From now on at most a call that has begun is running, provided that a source looks at
    /// cancelled() before each call. Returns whether this was the first time.
    bool cancel(std::shared_ptr<Source>) noexcept;
    bool cancelled() const noexcept { return cancelled_; }
    const Strand& strand() const noexcept { return strand_; }

 private:
    void run(const std::shared_ptr<Source>&);
    void wake_again(const std::shared_ptr<Source>&);
    void run_at(TimePoint due, const std::shared_ptr<Source>&);

    const Strand strand_;
    const asio::any_io_executor origin_;
    const std::shared_ptr<Clock> clock_;
    const int calls_per_turn_;
    std::atomic<bool> cancelled_ = false;
    std::atomic<bool> awake_ = false;  // run() will look at what there is
    std::unique_ptr<Timer> timer_;     // of the strand
};

/// The least time between two calls. The first one does not wait.
class Pace {
 public:
    explicit Pace(Duration interval = {}) : interval_(interval) {}
    void set_interval(Duration interval) noexcept { interval_ = interval; }
    void called(TimePoint now) noexcept { last_ = now; }
    bool begun() const noexcept { return last_.has_value(); }
    /// When the next call may be made; not before `now`.
    TimePoint due(TimePoint now) const noexcept {
        return last_ ? std::max(now, due_after(*last_, interval_)) : now;
    }

 private:
    Duration interval_;
    std::optional<TimePoint> last_;
};

}  // namespace k8s_sd::inline v0::detail
