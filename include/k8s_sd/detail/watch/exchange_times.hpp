#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
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

/// Measures the transfer of one response body: its bytes, and the time spent on the network and not
/// in the process. No I/O.
class BodyMeter {
 public:
    struct Transfer {
        std::uint64_t bytes = 0;
        Duration wait{};
    };

    /// The response head has arrived.
    void on_head(TimePoint now) noexcept { read_until_ = now; }
    /// A part of the body has arrived. The time before the first one is the server's.
    void begin_read(std::size_t size, TimePoint now) noexcept {
        arrived_ = now;
        if (total_.bytes > 0) total_.wait += now - read_until_;
        total_.bytes += size;
    }
    /// The part is processed.
    void end_read(TimePoint now) noexcept { read_until_ = now; }
    /// An object of a streamed list has arrived.
    void on_listed() noexcept { listed_ = total_; }

    /// Arrival of the current part.
    TimePoint arrived() const noexcept { return arrived_; }
    const Transfer& total() const noexcept { return total_; }
    /// Up to the last object of a streamed list.
    const Transfer& listed() const noexcept { return listed_; }

 private:
    Transfer total_;
    Transfer listed_;
    TimePoint read_until_{};
    TimePoint arrived_{};
};

}  // namespace k8s_sd::inline v0::detail
