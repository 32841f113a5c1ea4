#pragma once

#include "served_jobs.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

/// What a look at a job has come to.
enum class Walk : std::uint8_t {
    again,  ///< there is more to do in this job: look again, after what else waits for it
    next,   ///< go on with the next job
    end,    ///< nothing of the other jobs is needed
};

using NamedJob = std::pair<std::string, std::shared_ptr<ServedJob>>;
using Look = std::function<Walk(const std::string& job, JobTargets&)>;

/// Looks at one job after the other, each on its strand, and says when that is done: once, whatever
/// becomes of the jobs meanwhile; those that have ended are left out. Nothing runs at a time.
/// \param done  called in any thread
void walk(std::vector<NamedJob> jobs, Look, std::function<void()> done);

/// All jobs, or the one of this name; none if there is no such job.
std::vector<NamedJob> jobs_named(const ServedJobs&, const std::string& name = {});

/// Reads all groups into the tables of the jobs, without haste.
void complete_tables(std::vector<NamedJob> jobs);

}  // namespace bridge
