#include "pending_targets.hpp"

#include <algorithm>

namespace k8s_sd_c {

void PendingTargets::stop(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target,
                          k8s_sd::StopReason) noexcept {
    const auto it = changes_.find(id);
    if (it != changes_.end() && it->second.op == K8S_SD_ADDED) {
        changes_.erase(it);  // the host never knew it
    } else {
        changes_.insert_or_assign(id, TargetChange{K8S_SD_REMOVED, id, target});
    }
}

void PendingTargets::keep(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    const auto [it, is_new] = changes_.try_emplace(id, TargetChange{K8S_SD_CHANGED, id, target});
    if (!is_new) it->second.target = target;
}

void PendingTargets::start(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    changes_.insert_or_assign(id, TargetChange{K8S_SD_ADDED, id, target});
}

std::vector<TargetChange> PendingTargets::take() {
    std::vector<TargetChange> taken;
    taken.reserve(changes_.size());
    for (const auto& [id, change] : changes_) taken.push_back(change);
    changes_.clear();
    // One series is never scraped twice at a time.
    std::stable_partition(taken.begin(), taken.end(),
                          [](const TargetChange& change) { return change.op == K8S_SD_REMOVED; });
    return taken;
}

}  // namespace k8s_sd_c
