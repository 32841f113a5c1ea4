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

namespace bridge {

/// What a look at a job has come to.
enum class Walk : std::uint8_t {
    again,  ///< there is more to do in this job: look again, after what else waits for it
    next,   ///< go on with the next job
    end,    ///< nothing of the other jobs is needed
};

using NamedJob = std::pair<std::string, std::shared_ptr<ServedJob>>;
using Look = std::function<Walk(const std::string& job, JobTargets&)>;

/// A question that takes longer is answered with what was found, or not at all.
inline constexpr std::chrono::seconds longest_walk{10};

/// Looks at one job after the other, each on its strand, and says when that is done: once, whatever
/// becomes of the jobs meanwhile; those that have ended are left out. Nothing runs at a time.
/// \param done     called in any thread; false: there was no time for the rest
/// \param failed   called in place of `done` with what a look throws, and behind it with what
///                 `done` throws; in any thread
/// \param longest  what it takes; further looks do not begin
void walk(std::vector<NamedJob> jobs, Look, std::function<void(bool complete)> done,
          OnFailure failed, std::chrono::nanoseconds longest = longest_walk);

/// All jobs, or the one of this name; none if there is no such job.
std::vector<NamedJob> jobs_named(const ServedJobs&, const std::string& name = {});

/// Some milliseconds of a job's strand, whose other work has its turn behind them.
class Turn {
 public:
    bool lasts() const { return std::chrono::steady_clock::now() < end_; }

 private:
    std::chrono::steady_clock::time_point end_ =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
};

/// For RowReader::read(): one row can be as much work as many others.
inline GoesOn for_a_turn() {
    return [turn = Turn()] { return turn.lasts(); };
}

/// Goes on with a table that is not complete. \returns whether it is, now
inline bool read_on(TargetTable& table) {
    constexpr std::size_t targets = 10;
    for (const Turn turn; !table.advance(targets);) {
        if (!turn.lasts()) return false;
    }
    return true;
}

/// Reads all groups into the tables of the jobs, without haste.
/// \param pass  kept until that is done
void complete_tables(std::vector<NamedJob> jobs, Gate::Pass pass);

}  // namespace bridge
