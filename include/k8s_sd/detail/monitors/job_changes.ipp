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
    diff.full = is_first_;
    for (const std::string& name : changed_) {
        const auto& [present, delivered] = jobs_.find(name)->second;
        if (!present) {
            if (delivered) diff.removed.push_back(name);
        } else if (!delivered || (delivered != present && *delivered->job != *present->job)) {
            diff.updated.push_back(present);
        }
    }
    forget_changes();
    taken_ += diff.updated.size() + diff.removed.size();
    return diff;
}

/// The changes are delivered. Not before the diff is complete: nothing throws here.
void JobChanges::forget_changes() noexcept {
    for (const std::string& name : changed_) {
        const auto found = jobs_.find(name);
        if (found->second.present) {
            found->second.delivered = found->second.present;
        } else {
            jobs_.erase(found);
        }
    }
    changed_.clear();
    is_first_ = false;
}

}  // namespace k8s_sd::inline v0::detail
