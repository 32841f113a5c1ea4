#pragma once

#include "k8s_sd/scrape/target_pool.hpp"
#include "target_event.hpp"

#include <map>
#include <vector>

namespace k8s_sd_c {

/// The changes of a pool that the host has not taken yet: one for each target.
class PendingTargets final : public k8s_sd::TargetHandler {
 public:
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&,
              k8s_sd::StopReason) noexcept override;
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override;

    bool empty() const noexcept { return changes_.empty(); }
    /// Forgets the changes.
    void clear() noexcept {
        changes_.clear();
        incomplete_ = false;
    }
    /// Returns the changes, first those that stop a target, and forgets them.
    /// \throws std::bad_alloc also if there was no memory for one of them
    std::vector<TargetChange> take();

 private:
    void set(k8s_sd::TargetId, TargetChange) noexcept;

    std::map<k8s_sd::TargetId, TargetChange> changes_;
    bool incomplete_ = false;
};

}  // namespace k8s_sd_c
