#pragma once

#include "collectors/target_allocator.hpp"
#include "jobs/job_targets.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_jobs.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace k8s_sd_program {

/// Adds the counts of a job's allocation, if the job is complete.
void count_allocation(AllocationMetrics&, const std::string& job, JobTargets&,
                      const AllocationViewPtr&, Listing::TimePoint now);

/// Reports targets without a collector. A target may wait for its collector for a moment, so only
/// jobs with such targets in two consecutive counts are reported.
class UnassignedNotes {
 public:
    /// \returns a line, or "" if there is nothing new
    std::string check(const AllocationMetrics& counts);

 private:
    std::set<std::string> before_;  ///< jobs with such targets
    std::set<std::string> reported_;
};

/// Counts every ten seconds. Used on one strand, including start() and stop().
class AllocationCount : public std::enable_shared_from_this<AllocationCount> {
 public:
    using Report = std::function<void(const std::string&)>;

    /// \param jobs, allocator  outlive stop()
    AllocationCount(const boost::asio::any_io_executor& strand, const ServedJobs& jobs,
                    const TargetAllocator& allocator, Report report);

    void start();
    void stop();
    /// The last counts; nullopt: none, because the collectors are unknown.
    const std::optional<AllocationMetrics>& last() const noexcept { return last_; }

 private:
    void wait();
    void count();
    void on_counted(std::optional<AllocationMetrics>);

    const boost::asio::any_io_executor strand_;
    const ServedJobs& jobs_;
    const TargetAllocator& allocator_;
    const Report report_;
    std::unique_ptr<k8s_sd::Timer> timer_;
    UnassignedNotes notes_;
    std::optional<AllocationMetrics> last_;
    bool stopped_ = false;
};

}  // namespace k8s_sd_program
