#include "table/change_history.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bridge {

void ChangeHistory::Ring::add(TargetChangePtr change, std::size_t most) {
    changes.push_back(std::move(change));
    if (changes.size() <= most) return;
    changes.pop_front();
    ++lost;
}

void ChangeHistory::add(const std::string& job, std::vector<TargetChange> changes) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const std::lock_guard lock(mutex_);
    for (TargetChange& change : changes) {
        change.seq = ++seq_;
        change.at = now.count();
        change.job = job;
        const auto shared = std::make_shared<const TargetChange>(std::move(change));
        all_.add(shared, of_all);
        jobs_[job].add(shared, of_a_job);
    }
}

void ChangeHistory::forget(const std::string& job) {
    const std::lock_guard lock(mutex_);
    jobs_.erase(job);
}

ChangeHistory::Page ChangeHistory::page(const std::string& job, std::uint64_t before,
                                        std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    const auto of_job = jobs_.find(job);
    if (!job.empty() && of_job == jobs_.end()) return {};
    const Ring& ring = job.empty() ? all_ : of_job->second;
    Page page{.lost = ring.lost};
    for (auto change = ring.changes.rbegin(); change != ring.changes.rend(); ++change) {
        if ((*change)->seq >= before) continue;
        if (page.changes.size() == limit) {
            page.next = page.changes.back()->seq;
            break;
        }
        page.changes.push_back(*change);
    }
    return page;
}

std::vector<TargetChangePtr> ChangeHistory::since(std::uint64_t seq, std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    const auto first = std::upper_bound(
        all_.changes.begin(), all_.changes.end(), seq,
        [](std::uint64_t number, const TargetChangePtr& change) { return number < change->seq; });
    const auto left = static_cast<std::size_t>(all_.changes.end() - first);
    return {first, first + static_cast<std::ptrdiff_t>(std::min(limit, left))};
}

std::uint64_t ChangeHistory::newest() const {
    const std::lock_guard lock(mutex_);
    return seq_;
}

}  // namespace bridge
