#pragma once

#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "jobs/slow_work.hpp"
#include "table/row_reader.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_program {

/// The result of a visit.
enum class Walk : std::uint8_t {
    again,  ///< visit this job again, after other work of its strand
    next,   ///< continue with the next job
    end,    ///< skip the other jobs
};

using Visit = std::function<Walk(const std::string& job, JobTargets&)>;

/// A longer request gets an incomplete response, or none.
inline constexpr std::chrono::seconds max_walk_time{10};

/// Visits one job after the other, each on its strand, and calls `done` exactly once, even if jobs
/// end meanwhile; ended jobs are skipped. Jobs are never visited concurrently.
/// \param done      called in any thread; false: the time was over before the last job
/// \param failed    called instead of `done` with an exception of a visit, and after it with an
///                  exception of `done`; in any thread
/// \param max_time  the time limit; no visit begins after it
void walk(std::vector<NamedJob> jobs, Visit, std::function<void(bool complete)> done,
          OnFailure failed, std::chrono::nanoseconds max_time = max_walk_time);

/// All jobs, or the one of this name; none if there is no such job.
std::vector<NamedJob> jobs_named(const ServedJobs&, const std::string& name = {});

/// A time slice of a few milliseconds on a job's strand; other work of the strand runs after it.
class TimeSlice {
 public:
    bool lasts() const { return std::chrono::steady_clock::now() < end_; }

 private:
    std::chrono::steady_clock::time_point end_ =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
};

/// For RowReader::read(): one row can cost as much as many others.
inline GoesOn for_a_time_slice() {
    return [slice = TimeSlice()] { return slice.lasts(); };
}

/// Continues an incomplete table. \returns whether it is complete now
inline bool read_on(TargetTable& table) {
    constexpr std::size_t targets = 10;
    for (const TimeSlice slice; !table.advance(targets);) {
        if (!slice.lasts()) return false;
    }
    return true;
}

/// Reads all groups into the tables of the jobs, in the background.
/// \param pass  held until it is done
void complete_tables(std::vector<NamedJob> jobs, Gate::Pass pass);

}  // namespace k8s_sd_program
