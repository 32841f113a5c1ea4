#pragma once

#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/metrics.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The metrics of one membership. All memberships of a context share the gauges, so each adds its
/// differences, and removes itself in the end. Guarded by the mutex of its owner.
class FleetGauges {
 public:
    explicit FleetGauges(std::shared_ptr<Metrics> metrics) : metrics_(std::move(metrics)) {
        metrics_->fleet_memberships.fetch_add(1, std::memory_order_relaxed);
    }
    ~FleetGauges() {
        metrics_->fleet_memberships.fetch_sub(1, std::memory_order_relaxed);
        set(metrics_->fleet_alarms, alarms_, 0);
        set(metrics_->fleet_members, members_, 0);
    }
    FleetGauges(const FleetGauges&) = delete;
    FleetGauges& operator=(const FleetGauges&) = delete;

    void on_hold(bool is_alarm) noexcept { set(metrics_->fleet_alarms, alarms_, is_alarm ? 1 : 0); }
    void on_view(const FleetView& view) noexcept {
        metrics_->fleet_views.fetch_add(1, std::memory_order_relaxed);
        set(metrics_->fleet_members, members_, static_cast<std::int64_t>(view.size()));
        constexpr std::uint64_t exact = (std::uint64_t{1} << 48U) - 1;
        metrics_->fleet_epoch.store(static_cast<std::int64_t>(view.epoch() & exact),
                                    std::memory_order_relaxed);
    }

 private:
    static void set(Metrics::Gauge& gauge, std::int64_t& counted, std::int64_t now) noexcept {
        gauge.fetch_add(now - std::exchange(counted, now), std::memory_order_relaxed);
    }

    const std::shared_ptr<Metrics> metrics_;
    std::int64_t alarms_ = 0;
    std::int64_t members_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
