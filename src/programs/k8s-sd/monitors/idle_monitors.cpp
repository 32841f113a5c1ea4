#include "monitors/idle_monitors.hpp"

#include "cli/terminal_text.hpp"
#include "jobs/job_walk.hpp"
#include "monitors/target_advice.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace k8s_sd_program {

std::string IdleMonitors::lines(const ServedJobs& jobs) const {
    constexpr std::size_t max_lines = 20;
    std::vector<NamedJob> idle = jobs.monitors_without_targets();
    const std::size_t more = idle.size() - std::min(idle.size(), max_lines);
    idle.resize(idle.size() - more);
    std::string text;
    std::vector<NamedJob> wanted;
    {
        const std::lock_guard lock(reasons_->mutex);
        wanted = to_look_for(idle);
        for (const NamedJob& job : idle) {
            const auto reason = reasons_->by_job.find(job.first);
            const bool is_known = reason != reasons_->by_job.end();
            text += "job " + job.first + " has no targets: " +
                    (is_known ? reason->second : "/api/ui/monitor?job= has the reason") + "\n";
        }
    }
    if (more > 0) text += cli::counted(more, "more job") + " of monitors without targets\n";
    look(jobs, std::move(wanted));
    return text;
}

/// Call it with the mutex of the reasons.
std::vector<NamedJob> IdleMonitors::to_look_for(const std::vector<NamedJob>& idle) const {
    auto& known = reasons_->by_job;
    const auto now = std::chrono::steady_clock::now();
    if (now - reasons_->last > std::chrono::minutes(1)) {
        reasons_->last = now;
        std::erase_if(known, [&](const auto& reason) {
            return std::none_of(idle.begin(), idle.end(),
                                [&](const NamedJob& job) { return job.first == reason.first; });
        });
        return idle;
    }
    std::vector<NamedJob> missing;
    std::copy_if(idle.begin(), idle.end(), std::back_inserter(missing),
                 [&](const NamedJob& job) { return !known.contains(job.first); });
    return missing;
}

void IdleMonitors::look(const ServedJobs& jobs, std::vector<NamedJob> wanted) const {
    std::map<std::string, std::shared_ptr<const k8s_sd::ScrapeJob>> configs;
    for (const auto& [name, job] : wanted) configs.emplace(name, jobs.config(name));
    {
        const std::lock_guard lock(reasons_->mutex);
        if (wanted.empty() || std::exchange(reasons_->is_busy, true)) return;
    }
    const std::shared_ptr<void> until_end(nullptr, [reasons = reasons_](void*) {
        const std::lock_guard lock(reasons->mutex);
        reasons->is_busy = false;
    });
    walk(
        std::move(wanted),
        [reasons = reasons_, configs](const std::string& name, JobTargets& targets) {
            const auto advice = quick_advice(targets, *configs.at(name));
            if (!advice) return Walk::next;
            const std::lock_guard lock(reasons->mutex);
            reasons->by_job[name] = advice->reason + "; " + advice->remedy;
            return Walk::next;
        },
        [until_end](bool) {}, [until_end](const std::exception_ptr&) {});
}

}  // namespace k8s_sd_program
