#pragma once

#include "collectors/allocator.hpp"
#include "jobs/bridge_metrics.hpp"
#include "jobs/job_targets.hpp"
#include "jobs/served_jobs.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace bridge {

/// Adds what collectors have of a job, as far as it is complete.
void count_allocation(AllocationMetrics&, const std::string& job, JobTargets&,
                      const AllocationViewPtr&, Listing::TimePoint now);

/// Says which targets no collector has. A target that waits for its collector for a moment is none
/// of them: it must be without one twice in a row.
class UnassignedNotes {
 public:
    /// \returns a line, or "" where there is nothing new to say
    std::string look(const AllocationMetrics& counts);

 private:
    std::set<std::string> before_;  ///< jobs with such targets
    std::set<std::string> told_;
};

/// Counts every ten seconds. For one strand; start() and stop() belong to it.
class AllocationCount : public std::enable_shared_from_this<AllocationCount> {
 public:
    using Tell = std::function<void(const std::string&)>;

    /// \param jobs, allocator  outlive stop()
    AllocationCount(const boost::asio::any_io_executor& strand, const ServedJobs& jobs,
                    const Allocator& allocator, Tell tell);

    void start();
    void stop();
    /// The last counts; nullopt: there are none, as the collectors are not known.
    const std::optional<AllocationMetrics>& last() const noexcept { return last_; }

 private:
    void wait();
    void count();
    void on_counted(std::optional<AllocationMetrics>);

    const boost::asio::any_io_executor strand_;
    const ServedJobs& jobs_;
    const Allocator& allocator_;
    const Tell tell_;
    std::unique_ptr<k8s_sd::Timer> timer_;
    UnassignedNotes notes_;
    std::optional<AllocationMetrics> last_;
    bool stopped_ = false;
};

}  // namespace bridge
