#pragma once

#include "k8s_sd/scrape/target_pool.hpp"
#include "target_event.hpp"

#include <cstddef>
#include <map>

namespace k8s_sd_c {

/// The changes of a pool that the host has not taken yet: one for each target.
class PendingTargets final : public k8s_sd::TargetHandler {
 public:
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&,
              k8s_sd::StopReason) noexcept override;
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;

    bool empty() const noexcept { return stopped_.empty() && changed_.empty(); }
    /// Forgets the changes.
    void clear() noexcept {
        stopped_.clear();
        changed_.clear();
        incomplete_ = false;
    }
    /// Returns at most `limit` changes (zero: all), first those that stop a target, and forgets
    /// them. \throws std::bad_alloc also if there was no memory for one of them
    TargetChanges take(std::size_t limit);

 private:
    using Changes = std::map<k8s_sd::TargetId, TargetChange>;

    void set(Changes&, TargetChange) noexcept;

    // Two maps, since every part of the changes starts with those that stop a target: one series is
    // never scraped twice at a time.
    Changes stopped_;
    Changes changed_;  ///< and started
    bool incomplete_ = false;
};

}  // namespace k8s_sd_c
