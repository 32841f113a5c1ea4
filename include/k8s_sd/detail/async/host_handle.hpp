#pragma once

#include "k8s_sd/detail/async/reader.hpp"
#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/async/sync_waits.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/error.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Measures how long the oldest undelivered change has waited. Guarded by its owner.
class WaitingTime {
 public:
    WaitingTime(std::shared_ptr<const Clock> clock, std::shared_ptr<Metrics> metrics)
        : clock_(std::move(clock)), metrics_(std::move(metrics)) {}

    /// Records changes.
    /// \param wait       whether there is something to deliver now; false: the change was reverted
    /// \param continues  whether the host is receiving the parts of an earlier diff
    void note(bool wait, bool continues) noexcept {
        std::optional<TimePoint>& since = continues ? since_next_ : since_;
        if (!wait) since.reset();
        if (wait && !since) since = clock_->now();
    }
    /// Records a delivery to the host. The parts of a diff count once, with the last one.
    /// \param wait       whether there is more to deliver; the start of the wait is then kept
    /// \param continues  whether that is the rest of the same diff
    void delivered(TimePoint now, bool wait, bool continues) noexcept {
        if (continues) return;
        if (since_) metrics_->delivery_latency.observe(now - *since_);
        if (!wait || since_next_) since_ = std::exchange(since_next_, std::nullopt);
    }

 private:
    const std::shared_ptr<const Clock> clock_;
    const std::shared_ptr<Metrics> metrics_;
    std::optional<TimePoint> since_;
    std::optional<TimePoint> since_next_;  // of changes during the delivery of parts
};

/// The state behind a handle with diffs. It delivers changes to its host, by a callback or to the
/// pending reader of the next diff. The derived class supplies the diffs; its functions are called
/// under the mutex where they say so, the host never is.
///
/// A diff that cannot be prepared for the host, as without memory, is kept and delivered again
/// after a pause, before later ones. So are waits and reads that cannot be completed. The exception
/// leaves through the function that runs the host's context. Once the host is called, the diff
/// counts as delivered.
/// \tparam Diff  the content of one delivery; empty if default-constructed
template <class Diff>
class HostHandle : public RunState, public Reader<Diff>::Owner {
 public:
    using ReaderPtr = std::shared_ptr<Reader<Diff>>;
    using StatusCallback = std::function<void(const DiscovererStatus&)>;

    virtual DiscovererStatus status() const = 0;

    void read(ReaderPtr reader) {
        reader->set_owner(self_as<typename Reader<Diff>::Owner>(this));
        error_code refusal;
        {
            const std::lock_guard lock(mutex_);
            refusal = refusal_of_reader();
            if (!refusal) {
                reader_.swap(reader);
                try {
                    begin_once();
                    if (has_diff()) wake();
                } catch (...) {
                    reader = take_reader();  // destroyed without the mutex
                    throw;
                }
                return;
            }
        }
        reader->fail(refusal);
    }

    void stop_reading(const Reader<Diff>& reader) noexcept override {
        ReaderPtr stopped;
        {
            const std::lock_guard lock(mutex_);
            if (reader_.get() == &reader) stopped = take_reader();
        }
        if (stopped) end_read(stopped);
    }

    void wait_synced(SyncWaits::Handler handler) { synced_->add(std::move(handler), executor()); }

    void set_status_callback(StatusCallback callback) {
        auto shared = std::make_shared<const StatusCallback>(std::move(callback));
        if (!*shared) shared = nullptr;
        // The previous callback is destroyed without the mutex: its captures may call this object.
        const std::lock_guard lock(mutex_);
        status_callback_.swap(shared);
    }

 protected:
    /// \param origin     the executor of the producer, see Delivery
    /// \param is_called  true: the host has a callback; false: it reads with async_next()
    HostHandle(const asio::any_io_executor& executor, asio::any_io_executor origin,
               const std::shared_ptr<Clock>& clock, std::shared_ptr<Metrics> metrics,
               Duration min_interval, bool is_called)
        : RunState(executor, std::move(origin), clock, 1),
          is_called_(is_called),
          waits_end_(clock),
          read_end_(clock),
          pace_(min_interval),
          waiting_(clock, std::move(metrics)) {}

    // Implemented by the derived class; called under the mutex.
    virtual bool has_news() const = 0;
    /// \pre has_news()
    virtual Diff take_news() = 0;
    /// Whether the next diff is the rest of the last one: it does not wait for the interval.
    virtual bool continues() const { return false; }
    /// The diff just taken is being delivered.
    virtual void on_delivery() {}
    // Called without the mutex.
    /// Does what precedes the host's callback. After an exception it is called with the same diff
    /// again.
    virtual void prepare(const Diff&) {}
    /// Invokes the host's callback with the prepared diff.
    virtual void call(const Diff& diff) = 0;

    /// Updates the waiting time after changes; under the mutex.
    void note_changes() { waiting_.note(has_diff(), continues()); }
    /// Whether a delivery has failed, and has to be repeated. Under the mutex.
    bool is_behind() const { return retry_at_ && has_diff(); }
    void on_first_state() {
        FirstException problem;
        problem.catch_from([&] { complete_waits(); });
        problem.catch_from([&] { on_status_change(); });
        problem.rethrow();
    }
    void on_status_change() {
        {
            const std::lock_guard lock(mutex_);
            if (!status_callback_) return;
            status_changed_ = true;
        }
        wake();
    }

 private:
    /// The part of a status reported to the host.
    struct ReportedStatus {
        bool synced = false;
        error_code error;
        std::string message;
        bool operator==(const ReportedStatus&) const = default;
    };

    void on_ended() noexcept final {
        ReaderPtr reader;
        std::optional<Diff> kept;
        {
            const std::lock_guard lock(mutex_);
            reader = take_reader();
            kept.swap(kept_);
        }
        end_waits();
        if (reader) end_read(reader);
    }

    /// Completes the waits for the first state. Those that cannot be are completed after a pause.
    void complete_waits() {
        try {
            synced_->finish({});
        } catch (...) {
            waits_end_.call_later(executor(), [weak = std::weak_ptr(self_as(this))] {
                const auto self = weak.lock();
                if (!self) return;
                if (self->cancelled()) return self->end_waits();
                self->complete_waits();
            });
            throw;
        }
    }
    void end_waits() noexcept {
        try {
            synced_->finish(asio::error::operation_aborted);
            waits_end_.cancel();
        } catch (...) {
            waits_end_.call_later(executor(), [self = self_as(this)] { self->end_waits(); });
        }
    }
    void end_read(const ReaderPtr& reader) noexcept {
        try {
            reader->fail(asio::error::operation_aborted);
        } catch (...) {
            {
                const std::lock_guard lock(mutex_);
                reader->next_to_end = std::exchange(to_end_, reader);
            }
            read_end_.call_later(executor(), [self = self_as(this)] { self->end_reads(); });
        }
    }
    void end_reads() noexcept {
        ReaderPtr next;
        {
            const std::lock_guard lock(mutex_);
            next.swap(to_end_);
        }
        while (next) {
            const ReaderPtr reader = std::exchange(next, nullptr);
            next.swap(reader->next_to_end);
            end_read(reader);
        }
    }

    error_code refusal_of_reader() const {
        if (is_called_) return asio::error::invalid_argument;
        if (cancelled()) return asio::error::operation_aborted;
        if (reader_) return asio::error::already_started;
        return {};
    }

    bool deliver_next(TimePoint now) final {
        if (deliver_status()) return true;
        Diff diff;
        ReaderPtr reader;
        {
            const std::lock_guard lock(mutex_);
            const auto due = due_of_diff(now);
            if (!due || *due > now || cancelled()) return false;
            if (is_called_) {
                diff = take_diff(now);
            } else {
                is_offered_ = true;
                reader = reader_;
            }
        }
        if (reader) {
            offer_to(reader);
            return true;
        }
        try {
            prepare(diff);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            keep(std::move(diff));
            throw;
        }
        {
            const std::lock_guard lock(mutex_);
            retry_at_.reset();
        }
        call(diff);
        return true;
    }

    // Under the mutex.
    void keep(Diff diff) {
        kept_.emplace(std::move(diff));
        retry_later();
    }
    void retry_later() {
        retry_at_ = due_after(clock().now(), Reminder::pause);
        wake();
    }

    void offer_to(const ReaderPtr& reader) {
        try {
            reader->post([self = self_as(this), reader] { self->hand_over(reader); });
        } catch (...) {
            const std::lock_guard lock(mutex_);
            is_offered_ = false;
            retry_at_ = due_after(clock().now(), Reminder::pause);
            throw;
        }
    }

    /// Runs on the executor of the read's handler. The diff is taken only here, so that a read
    /// cancelled meanwhile loses nothing.
    void hand_over(const ReaderPtr& reader) {
        Diff diff;
        {
            const std::lock_guard lock(mutex_);
            if (reader_ != reader) return;
            is_offered_ = false;
            if (!has_diff()) return;  // the change was reverted
            diff = take_diff(clock().now());
            is_offered_ = is_preparing_ = true;
        }
        try {
            reader->prepare(diff);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            is_preparing_ = false;
            if (reader_ == reader) is_offered_ = false;
            keep(std::move(diff));
            throw;
        }
        {
            const std::lock_guard lock(mutex_);
            is_preparing_ = false;
            retry_at_.reset();
            if (reader_ != reader) {  // cancelled meanwhile
                kept_.emplace(std::move(diff));
                return wake();
            }
            take_reader();
        }
        reader->finish_here();
    }

    bool has_diff() const { return kept_ || has_news(); }

    Diff take_diff(TimePoint now) try {
        if (kept_) return *std::exchange(kept_, std::nullopt);
        pace_.called(now);
        Diff diff = take_news();
        waiting_.delivered(now, has_news(), continues());
        on_delivery();
        return diff;
    } catch (...) {
        retry_later();
        throw;
    }

    ReaderPtr take_reader() noexcept {
        is_offered_ = false;
        return std::exchange(reader_, nullptr);
    }

    std::optional<TimePoint> next_due(TimePoint now) final {
        const std::lock_guard lock(mutex_);
        if (status_changed_) return now;
        return due_of_diff(now);
    }

    std::optional<TimePoint> due_of_diff(TimePoint now) const {
        if (!has_diff() || is_preparing_) return std::nullopt;
        if (!is_called_ && (!reader_ || is_offered_)) return std::nullopt;
        const TimePoint due = kept_ || continues() ? now : pace_.due(now);
        return std::max(due, retry_at_.value_or(now));
    }

    /// \returns whether the callback was called with a new status
    bool deliver_status() {
        std::shared_ptr<const StatusCallback> callback;
        {
            const std::lock_guard lock(mutex_);
            if (!std::exchange(status_changed_, false) || cancelled()) return false;
            callback = status_callback_;
        }
        if (!callback) return false;
        const DiscovererStatus now = status();
        ReportedStatus reported{now.synced, now.error, now.message};
        if (reported == reported_status_) return false;
        reported_status_ = std::move(reported);
        (*callback)(now);
        return true;
    }

    const bool is_called_;
    const std::shared_ptr<SyncWaits> synced_ = std::make_shared<SyncWaits>();
    Reminder waits_end_, read_end_;   // of completions without memory
    ReportedStatus reported_status_;  // used on the delivery's strand only

    // Guarded by the mutex.
    ReaderPtr reader_;                   // null: no read is pending
    ReaderPtr to_end_;                   // the first read without memory for its end
    bool is_offered_ = false;            // hand_over() is posted to the reader
    bool is_preparing_ = false;          // a diff is being prepared for a reader
    std::optional<Diff> kept_;           // could not be prepared
    std::optional<TimePoint> retry_at_;  // nullopt: no delivery has failed since the last one
    std::shared_ptr<const StatusCallback> status_callback_;
    bool status_changed_ = false;
    Pace pace_;
    WaitingTime waiting_;
};

}  // namespace k8s_sd::inline v0::detail
