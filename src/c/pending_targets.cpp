#include "pending_targets.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace k8s_sd_c {

void PendingTargets::set(k8s_sd::TargetId id, TargetChange change) noexcept {
    try {
        changes_.insert_or_assign(id, std::move(change));
    } catch (const std::bad_alloc&) {
        incomplete_ = true;
    }
}

void PendingTargets::stop(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target,
                          k8s_sd::StopReason) noexcept {
    const auto it = changes_.find(id);
    if (it != changes_.end() && it->second.op == K8S_SD_ADDED) {
        changes_.erase(it);  // the host never knew it
    } else {
        set(id, TargetChange{K8S_SD_REMOVED, id, target});
    }
}

void PendingTargets::keep(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    const auto it = changes_.find(id);
    if (it != changes_.end()) {
        it->second.target = target;
    } else {
        set(id, TargetChange{K8S_SD_CHANGED, id, target});
    }
}

void PendingTargets::start(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    set(id, TargetChange{K8S_SD_ADDED, id, target});
}

std::vector<TargetChange> PendingTargets::take() {
    if (incomplete_) throw std::bad_alloc();
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
