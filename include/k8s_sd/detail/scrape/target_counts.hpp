#pragma once

#include "k8s_sd/detail/scrape/built_group.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The numbers of a pool's targets, and their metrics. Several pools add to the same gauges, so
/// each adds its differences, and removes itself in the end.
class TargetCounts {
 public:
    TargetCounts() = default;
    ~TargetCounts() { set_metrics(nullptr); }
    TargetCounts(const TargetCounts&) = delete;
    TargetCounts& operator=(const TargetCounts&) = delete;

    void add(const BuiltGroup& built) noexcept {
        dropped_ += built.dropped_count();
        failed_ += built.failed().size();
        share_.others += built.others_count();
        share_.moving += built.moving().size();
    }
    void subtract(const BuiltGroup& built) noexcept {
        dropped_ -= built.dropped_count();
        failed_ -= built.failed().size();
        share_.others -= built.others_count();
        share_.moving -= built.moving().size();
    }
    /// Targets gained by a change of the share.
    void on_gained(std::size_t count) noexcept {
        share_.gained += count;
        if (metrics_) metrics_->fleet_targets_gained.fetch_add(count, std::memory_order_relaxed);
    }
    /// Targets handed over to other members.
    void on_handed(std::size_t count) noexcept {
        share_.handed += count;
        if (metrics_) metrics_->fleet_targets_handed.fetch_add(count, std::memory_order_relaxed);
    }

    std::size_t dropped() const noexcept { return dropped_; }
    std::size_t failed() const noexcept { return failed_; }
    const ShareCounts& share() const noexcept { return share_; }

    /// \param metrics  null: none
    void set_metrics(std::shared_ptr<Metrics> metrics) noexcept {
        publish(0, 0);
        metrics_ = std::move(metrics);
        publish();
    }
    /// Updates the gauges.
    void publish() noexcept { publish(share_.moving, share_.others); }

 private:
    void publish(std::size_t moving, std::size_t others) noexcept {
        if (!metrics_) return;
        set(metrics_->fleet_targets_moving, published_moving_, moving);
        set(metrics_->fleet_foreign_targets, published_others_, others);
    }
    static void set(Metrics::Gauge& gauge, std::size_t& before, std::size_t now) noexcept {
        gauge.fetch_add(static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before),
                        std::memory_order_relaxed);
        before = now;
    }

    std::size_t dropped_ = 0;
    std::size_t failed_ = 0;
    ShareCounts share_;
    std::shared_ptr<Metrics> metrics_;
    std::size_t published_moving_ = 0;
    std::size_t published_others_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
