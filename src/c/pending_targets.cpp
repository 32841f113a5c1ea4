#include "pending_targets.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace k8s_sd_c {

void PendingTargets::set(Changes& changes, TargetChange change) noexcept {
    try {
        changes.insert_or_assign(change.id, std::move(change));
    } catch (const std::bad_alloc&) {
        incomplete_ = true;
    }
}

void PendingTargets::stop(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target,
                          k8s_sd::StopReason) noexcept {
    const auto it = changed_.find(id);
    const bool unknown = it != changed_.end() && it->second.op == K8S_SD_ADDED;
    if (it != changed_.end()) changed_.erase(it);
    if (!unknown) set(stopped_, TargetChange{K8S_SD_REMOVED, id, target});
}

void PendingTargets::keep(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    const auto it = changed_.find(id);
    if (it != changed_.end()) {
        it->second.target = target;
    } else {
        set(changed_, TargetChange{K8S_SD_CHANGED, id, target});
    }
}

void PendingTargets::start(k8s_sd::TargetId id, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    set(changed_, TargetChange{K8S_SD_ADDED, id, target});
}

TargetChanges PendingTargets::take(std::size_t limit) {
    if (incomplete_) throw std::bad_alloc();
    const std::size_t size = stopped_.size() + changed_.size();
    const std::size_t count = limit == 0 ? size : std::min(size, limit);
    TargetChanges taken;
    taken.changes.reserve(count);
    for (Changes* changes : {&stopped_, &changed_}) {
        auto it = changes->begin();
        for (; it != changes->end() && taken.changes.size() < count; ++it) {
            taken.changes.push_back(std::move(it->second));
        }
        changes->erase(changes->begin(), it);
    }
    taken.more = !empty();
    return taken;
}

}  // namespace k8s_sd_c
