#pragma once

#include "k8s_sd/time.hpp"

#include <cstddef>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

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
