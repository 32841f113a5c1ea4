#pragma once

#include "k8s_sd/clock.hpp"
#include "k8s_sd/metrics.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Measures how long the oldest undelivered change has waited. Guarded by its owner.
class WaitingTime {
 public:
    WaitingTime(std::shared_ptr<const Clock> clock, std::shared_ptr<Metrics> metrics)
        : clock_(std::move(clock)), metrics_(std::move(metrics)) {}

    /// Records changes.
    /// \param wait  whether there is something to deliver now; false if the change was reverted
    void note(bool wait) noexcept {
        if (!wait) since_.reset();
        if (wait && !since_) since_ = clock_->now();
    }
    /// Records a delivery to the host.
    /// \param wait  whether there is more to deliver; the start of the wait is then kept
    void delivered(TimePoint now, bool wait) noexcept {
        if (since_) metrics_->delivery_latency.observe(now - *since_);
        if (!wait) since_.reset();
    }

 private:
    const std::shared_ptr<const Clock> clock_;
    const std::shared_ptr<Metrics> metrics_;
    std::optional<TimePoint> since_;
};

}  // namespace k8s_sd::inline v0::detail
