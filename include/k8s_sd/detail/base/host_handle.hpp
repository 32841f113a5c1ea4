#pragma once

#include "k8s_sd/detail/base/delivery.hpp"
#include "k8s_sd/detail/base/operation.hpp"
#include "k8s_sd/detail/base/reader.hpp"
#include "k8s_sd/detail/base/sync_waits.hpp"
#include "k8s_sd/detail/base/waiting_time.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/error.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The state behind a handle that tells its host what changes: by a callback, or to whoever reads
/// the next diff. It runs until it is cancelled. What there is to tell is the derived class's; it
/// is called under the mutex where its functions say so, the host never is.
/// \tparam Diff  what one call tells; an empty one by default
template <class Diff>
class HostHandle : public Delivery::Source,
                   public Reader<Diff>::Owner,
                   public std::enable_shared_from_this<HostHandle<Diff>> {
 public:
    using ReaderPtr = std::shared_ptr<Reader<Diff>>;
    using StatusCallback = std::function<void(const DiscovererStatus&)>;

    virtual ~HostHandle() = default;

    const asio::any_io_executor& executor() const noexcept { return executor_; }
    virtual DiscovererStatus status() const = 0;

    void run(RunOperation::Handler handler) {
        const auto self = this->shared_from_this();
        auto operation =
            std::make_unique<RunOperation>(std::move(handler), executor_, std::weak_ptr(self));
        error_code refusal;
        {
            const std::lock_guard lock(mutex_);
            if (operation_) {
                refusal = asio::error::already_started;
            } else if (delivery_.cancelled()) {
                refusal = asio::error::operation_aborted;
            } else {
                operation_ = std::move(operation);
                begin_once();
                return;
            }
        }
        RunOperation::complete(std::move(operation), refusal);
    }

    void read(ReaderPtr reader) {
        reader->set_owner(this->shared_from_this());
        error_code refusal;
        {
            const std::lock_guard lock(mutex_);
            refusal = refusal_of_reader();
            if (!refusal) {
                reader_ = std::move(reader);
                begin_once();
                if (has_news()) wake();
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
        if (stopped) stopped->fail(asio::error::operation_aborted);
    }

    void wait_synced(SyncWaits::Handler handler) { synced_->add(std::move(handler), executor_); }

    void set_status_callback(StatusCallback callback) {
        auto shared = std::make_shared<const StatusCallback>(std::move(callback));
        if (!*shared) shared = nullptr;
        // The one before is destroyed without the mutex: what it owns may call this object.
        const std::lock_guard lock(mutex_);
        status_callback_.swap(shared);
    }

    void cancel() noexcept {
        const auto self = this->shared_from_this();
        if (!delivery_.cancel(self)) return;
        std::unique_ptr<RunOperation> operation;
        ReaderPtr reader;
        {
            const std::lock_guard lock(mutex_);
            end();
            operation = std::move(operation_);
            reader = take_reader();
        }
        // Without the mutex: a context that ends destroys handlers at once, and with them perhaps
        // what calls this object.
        synced_->finish(asio::error::operation_aborted);
        if (reader) reader->fail(asio::error::operation_aborted);
        if (operation) RunOperation::complete(std::move(operation), asio::error::operation_aborted);
    }

 protected:
    /// \param origin     where changes come from, see Delivery
    /// \param is_called  the host has a callback; else it reads
    HostHandle(const asio::any_io_executor& executor, asio::any_io_executor origin,
               const std::shared_ptr<Clock>& clock, std::shared_ptr<Metrics> metrics,
               Duration least_interval, bool is_called)
        : executor_(executor),
          clock_(clock),
          delivery_(executor, std::move(origin), clock, 1),
          is_called_(is_called),
          pace_(least_interval),
          waiting_(clock, std::move(metrics)) {}

    // Of the derived class, under the mutex.
    virtual void begin() = 0;
    virtual void end() noexcept = 0;
    virtual bool has_news() const = 0;
    /// Only if it has news.
    virtual Diff take_news() = 0;
    /// What was taken is on its way to the host.
    virtual void on_delivery() {}
    // Without the mutex.
    /// Calls the host's callback.
    virtual void call(const Diff& diff) = 0;

    /// Changes have come; under the mutex.
    void note_changes() { waiting_.note(has_news()); }
    /// There is something to tell.
    void wake() { delivery_.wake(this->shared_from_this()); }
    void on_first_state() {
        synced_->finish({});
        on_status_change();
    }
    void on_status_change() {
        {
            const std::lock_guard lock(mutex_);
            if (!status_callback_) return;
            status_changed_ = true;
        }
        wake();
    }
    bool cancelled() const noexcept { return delivery_.cancelled(); }
    /// The derived object, kept alive.
    template <class Derived>
    std::shared_ptr<Derived> self_as(Derived* derived) {
        return {this->shared_from_this(), derived};
    }

    mutable std::mutex mutex_;

 private:
    /// What the host is told of a status.
    struct ToldStatus {
        bool synced = false;
        error_code error;
        std::string message;
        bool operator==(const ToldStatus&) const = default;
    };

    void begin_once() {
        if (!std::exchange(begun_, true)) begin();
    }

    error_code refusal_of_reader() const {
        if (is_called_) return asio::error::invalid_argument;
        if (delivery_.cancelled()) return asio::error::operation_aborted;
        if (reader_) return asio::error::already_started;
        return {};
    }

    bool tell_next(TimePoint now) final {
        if (tell_status()) return true;
        Diff diff;
        ReaderPtr reader;
        {
            const std::lock_guard lock(mutex_);
            const auto due = due_of_diff(now);
            if (!due || *due > now || delivery_.cancelled()) return false;
            if (is_called_) {
                diff = take_diff(now);
            } else {
                is_offered_ = true;
                reader = reader_;
            }
        }
        if (!reader) {
            call(diff);
        } else {
            reader->post([self = this->shared_from_this(), reader] { self->hand_over(reader); });
        }
        return true;
    }

    /// Where the reader's handler is called: until then the news is still there, and a read that
    /// was cancelled meanwhile has lost nothing.
    void hand_over(const ReaderPtr& reader) {
        Diff diff;
        {
            const std::lock_guard lock(mutex_);
            if (reader_ != reader) return;
            is_offered_ = false;
            if (!has_news()) return;  // it has changed back
            diff = take_diff(clock_->now());
            take_reader();
        }
        reader->finish_here(diff);
    }

    Diff take_diff(TimePoint now) {
        pace_.called(now);
        Diff diff = take_news();
        waiting_.told(now, has_news());
        on_delivery();
        return diff;
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
        if (!has_news() || !(is_called_ || (reader_ && !is_offered_))) return std::nullopt;
        return pace_.due(now);
    }

    /// \returns whether the host was told something new
    bool tell_status() {
        std::shared_ptr<const StatusCallback> callback;
        {
            const std::lock_guard lock(mutex_);
            if (!std::exchange(status_changed_, false) || delivery_.cancelled()) return false;
            callback = status_callback_;
        }
        if (!callback) return false;
        const DiscovererStatus now = status();
        ToldStatus told{now.synced, now.error, now.message};
        if (told == told_status_) return false;
        told_status_ = std::move(told);
        (*callback)(now);
        return true;
    }

    const asio::any_io_executor executor_;
    const std::shared_ptr<Clock> clock_;
    Delivery delivery_;
    const bool is_called_;
    const std::shared_ptr<SyncWaits> synced_ = std::make_shared<SyncWaits>();
    ToldStatus told_status_;  // of the delivery's strand

    // Guarded by the mutex.
    std::unique_ptr<RunOperation> operation_;
    ReaderPtr reader_;         // null: nobody reads
    bool is_offered_ = false;  // hand_over() is on its way to the reader
    std::shared_ptr<const StatusCallback> status_callback_;
    bool status_changed_ = false;
    bool begun_ = false;
    Pace pace_;
    WaitingTime waiting_;
};

}  // namespace k8s_sd::inline v0::detail
