#include "monitors/idle_monitors.hpp"

#include "jobs/job_walk.hpp"
#include "monitors/target_advice.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace k8s_sd_program {

std::string IdleMonitors::lines(const ServedJobs& jobs) const {
    constexpr std::size_t max_lines = 20;
    std::vector<NamedJob> idle = jobs.monitors_without_targets();
    const std::size_t more = idle.size() - std::min(idle.size(), max_lines);
    idle.resize(idle.size() - more);
    std::string text;
    std::vector<NamedJob> unknown;
    {
        const std::lock_guard lock(reasons_->mutex);
        const auto now = std::chrono::steady_clock::now();
        if (now - reasons_->since > std::chrono::minutes(1)) {
            reasons_->by_job.clear();
            reasons_->since = now;
        }
        for (const NamedJob& job : idle) {
            const auto reason = reasons_->by_job.find(job.first);
            const bool is_known = reason != reasons_->by_job.end();
            if (!is_known) unknown.push_back(job);
            text += "job " + job.first + " has no targets: " +
                    (is_known ? reason->second : "/api/ui/monitor?job= has the reason") + "\n";
        }
    }
    if (more > 0) text += std::to_string(more) + " more jobs of monitors have no targets\n";
    look(jobs, std::move(unknown));
    return text;
}

void IdleMonitors::look(const ServedJobs& jobs, std::vector<NamedJob> unknown) const {
    {
        const std::lock_guard lock(reasons_->mutex);
        if (unknown.empty() || std::exchange(reasons_->is_busy, true)) return;
    }
    std::map<std::string, std::shared_ptr<const k8s_sd::ScrapeJob>> configs;
    for (const auto& [name, job] : unknown) configs.emplace(name, jobs.config(name));
    const auto end = [reasons = reasons_] {
        const std::lock_guard lock(reasons->mutex);
        reasons->is_busy = false;
    };
    walk(
        std::move(unknown),
        [reasons = reasons_, configs](const std::string& name, JobTargets& targets) {
            const auto advice = quick_advice(targets, *configs.at(name));
            if (!advice) return Walk::next;
            const std::lock_guard lock(reasons->mutex);
            reasons->by_job[name] = advice->reason + "; " + advice->remedy;
            return Walk::next;
        },
        [end](bool) { end(); }, [end](const std::exception_ptr&) { end(); });
}

}  // namespace k8s_sd_program
