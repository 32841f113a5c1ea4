#include "k8s_sd/detail/monitors/job_changes.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

void JobChanges::put(const MonitorJobPtr& job) {
    MonitorJobPtr& present = jobs_[job->origin].present;
    if (present == job) return;
    if (!present) ++count_;
    present = job;
    changed_.insert(job->origin);
}

void JobChanges::remove(const std::string& name) {
    const auto found = jobs_.find(name);
    if (found == jobs_.end() || !found->second.present) return;
    --count_;
    found->second.present.reset();
    changed_.insert(name);
}

MonitorDiff JobChanges::take() {
    MonitorDiff diff;
    diff.full = std::exchange(is_first_, false);
    for (const std::string& name : std::exchange(changed_, {})) {
        const auto found = jobs_.find(name);
        auto& [present, delivered] = found->second;
        const MonitorJobPtr before = std::exchange(delivered, present);
        if (!present) {
            if (before) diff.removed.push_back(name);
            jobs_.erase(found);
        } else if (!before || (before != present && *before->job != *present->job)) {
            diff.updated.push_back(present);
        }
    }
    taken_ += diff.updated.size() + diff.removed.size();
    return diff;
}

}  // namespace k8s_sd::inline v0::detail
