#pragma once

#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Calls a host on its executor, as if by post, one call at a time. A call takes its state when it
/// begins. Updates are therefore coalesced: a slow host skips intermediate states.
class K8S_SD_EXPORT Delivery {
 public:
    /// Supplies the state to deliver. Owns the delivery.
    class Source {
     public:
        /// Makes the next call if one is due, on the delivery's strand. If the callback throws,
        /// the state taken for the call counts as delivered.
        /// \returns whether a call was made
        virtual bool deliver_next(TimePoint now) = 0;
        /// When the next call is due; nullopt if there is nothing to deliver. Any thread.
        virtual std::optional<TimePoint> next_due(TimePoint now) = 0;

     protected:
        ~Source() = default;
    };
    using Strand = asio::strand<asio::any_io_executor>;

    /// \param origin          the executor of the producer; after each batch of calls a handler
    ///                        runs there, so that the producer can collect further changes
    /// \param calls_per_batch  maximum calls a batch; then other handlers of the host may run
    Delivery(const asio::any_io_executor& host, asio::any_io_executor origin,
             std::shared_ptr<Clock> clock, int calls_per_batch);
    Delivery(const Delivery&) = delete;
    Delivery& operator=(const Delivery&) = delete;
    ~Delivery();

    // Any thread.
    /// Schedules a poll of the source: it has something to deliver, or its due time moved earlier.
    /// Without memory for a handler it throws, and the source is polled after a pause.
    void wake(std::shared_ptr<Source>);
    /// Once this returns, at most one call is still running, provided that the source checks
    /// cancelled() before each call. Returns true on the first cancellation.
    bool cancel(std::shared_ptr<Source>) noexcept;
    bool cancelled() const noexcept { return cancelled_; }
    /// Whether a poll lacked memory for its handler, and none has come since.
    bool missed() const noexcept { return missed_; }
    const Strand& strand() const noexcept { return strand_; }
    const asio::any_io_executor& origin() const noexcept { return origin_; }
    Clock& clock() const noexcept { return *clock_; }

 private:
    void run(const std::shared_ptr<Source>&);
    void wake_again(const std::shared_ptr<Source>&);
    void run_at(TimePoint due, const std::shared_ptr<Source>&);
    void run_later(const std::shared_ptr<Source>&) noexcept;

    const Strand strand_;
    const asio::any_io_executor any_strand_;  // the same; its conversion takes memory
    const asio::any_io_executor origin_;
    const std::shared_ptr<Clock> clock_;
    const int calls_per_batch_;
    std::atomic<bool> cancelled_ = false;
    std::atomic<bool> awake_ = false;  // run() is queued and will poll the source
    std::atomic<bool> missed_ = false;
    std::unique_ptr<Timer> timer_;  // used on the strand only
    Reminder reminder_;             // of a poll without memory for its handler
};

/// The minimum interval between two calls. The first call does not wait.
class Pace {
 public:
    explicit Pace(Duration interval = {}) : interval_(interval) {}
    void set_interval(Duration interval) noexcept { interval_ = interval; }
    void called(TimePoint now) noexcept { last_ = now; }
    bool begun() const noexcept { return last_.has_value(); }
    /// The earliest time of the next call; not before `now`.
    TimePoint due(TimePoint now) const noexcept {
        return last_ ? std::max(now, due_after(*last_, interval_)) : now;
    }

 private:
    Duration interval_;
    std::optional<TimePoint> last_;
};

}  // namespace k8s_sd::inline v0::detail
