#pragma once

#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

#include <chrono>
#include <cstddef>
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

/// Does a small step again and again for some milliseconds, so that other work of the job's strand
/// has its turn. \param step  bool(): whether there is more \returns the same
template <class Step>
bool for_a_while(Step&& step) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    while (step()) {
        if (std::chrono::steady_clock::now() >= until) return true;
    }
    return false;
}

/// Goes on with a table that is not complete. \returns whether it is, now
inline bool read_on(TargetTable& table) {
    constexpr std::size_t targets = 100;
    return !for_a_while([&] { return !table.advance(targets); });
}
inline constexpr std::size_t rows_a_step = 200;  ///< for for_a_while()

/// Reads all groups into the tables of the jobs, without haste.
/// \param pass  kept until that is done
void complete_tables(std::vector<NamedJob> jobs, Gate::Pass pass);

}  // namespace bridge
