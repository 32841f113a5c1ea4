#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

/// The times of one exchange: request, response head, and the start of a working watch. No I/O.
class ExchangeTimes {
 public:
    /// \param watch_timeout  the requested `timeoutSeconds`; zero: the server's default, or a list
    void begin(std::chrono::seconds watch_timeout) noexcept {
        *this = {};
        watch_timeout_ = watch_timeout;
    }
    void on_sent(TimePoint now) noexcept { sent_at_ = now; }
    void on_head(TimePoint now) noexcept { head_at_ = now; }
    /// The response is a working watch from now on.
    void begin_watch(TimePoint now) noexcept { watching_since_ = now; }

    /// Arrival of the head. Requires one, as response_time() does.
    TimePoint head_at() const { return *head_at_; }
    Duration response_time() const { return *head_at_ - sent_at_; }
    /// Time since begin_watch(); zero without it.
    Duration watched(TimePoint now) const noexcept {
        return watching_since_ ? now - *watching_since_ : Duration{};
    }
    /// Time since begin_watch(), or else since the head; zero without either.
    Duration life(TimePoint now) const noexcept {
        return watching_since_ ? watched(now) : open(now);
    }
    /// Whether a response that ends now ends at its requested timeout.
    bool is_in_time(TimePoint now) const noexcept {
        // Tolerates servers with a slightly early end.
        constexpr Duration margin = std::chrono::seconds(5);
        return watch_timeout_ > margin && open(now) >= watch_timeout_ - margin;
    }
    std::chrono::seconds watch_timeout() const noexcept { return watch_timeout_; }

 private:
    Duration open(TimePoint now) const noexcept { return head_at_ ? now - *head_at_ : Duration{}; }

    TimePoint sent_at_{};
    OptionalTime head_at_;
    OptionalTime watching_since_;
    std::chrono::seconds watch_timeout_{};
};

/// Measures the transfer of a list in one response body: its bytes, and the time spent on the
/// network and not in the process. No I/O.
class BodyMeter {
 public:
    struct Transfer {
        std::uint64_t bytes = 0;
        Duration wait{};
    };

    /// The response head has arrived: measures the body.
    void on_head(TimePoint now) { list_.emplace().read_until = now; }
    /// A part of the body has arrived. The time before the first one is the server's.
    void begin_read(std::size_t size, TimePoint now) noexcept {
        arrived_ = now;
        if (!list_) return;
        if (list_->total.bytes > 0) list_->total.wait += now - list_->read_until;
        list_->total.bytes += size;
    }
    /// The part is processed.
    void end_read(TimePoint now) noexcept {
        if (list_) list_->read_until = now;
    }
    /// An object of a streamed list has arrived.
    void on_listed() noexcept {
        if (list_) list_->listed = list_->total;
    }
    /// Measures no longer, as the rest of the body is a watch.
    void on_watch() noexcept { list_.reset(); }

    /// Arrival of the current part.
    TimePoint arrived() const noexcept { return arrived_; }
    Transfer total() const noexcept { return list_ ? list_->total : Transfer{}; }
    /// Up to the last object of a streamed list.
    Transfer listed() const noexcept { return list_ ? list_->listed : Transfer{}; }

 private:
    struct List {
        Transfer total;
        Transfer listed;
        TimePoint read_until{};
    };

    Rare<List> list_;
    TimePoint arrived_{};
};

}  // namespace k8s_sd::inline v0::detail
