#pragma once

#include "jobs/served_jobs.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// Why monitors have no targets. Used on the strand of the jobs.
class IdleMonitors {
 public:
    /// One a line, in words; the first ones. The reasons are those of earlier calls: those that are
    /// missing, or older than a minute, are looked for afterwards, on the strands of the jobs.
    std::string lines(const ServedJobs&) const;

 private:
    struct Reasons {
        std::mutex mutex{};
        std::map<std::string, std::string> by_job{};
        std::chrono::steady_clock::time_point last{};  ///< when all were looked for
        bool is_busy = false;
    };

    std::vector<NamedJob> to_look_for(const std::vector<NamedJob>& idle) const;
    void look(const ServedJobs&, std::vector<NamedJob>) const;

    const std::shared_ptr<Reasons> reasons_ = std::make_shared<Reasons>();
};

}  // namespace k8s_sd_program
