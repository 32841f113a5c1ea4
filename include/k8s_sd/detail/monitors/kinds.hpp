#pragma once

#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <vector>

/// One file for each kind of monitor. A kind validates its object, and makes the jobs.
namespace k8s_sd::inline v0::detail {

/// The jobs of a monitor; the caller discards them after a fault.
class JobList {
 public:
    /// \returns false once the jobs are too large: a fault of the object
    bool add(GeneratedJob, const ObjectView& at);
    std::vector<GeneratedJob> take() { return std::move(jobs_); }
    bool is_too_large() const noexcept { return is_too_large_; }
    /// Estimated memory of the jobs.
    std::size_t bytes() const noexcept { return bytes_; }

 private:
    std::vector<GeneratedJob> jobs_;
    std::size_t bytes_ = 0;
    bool is_too_large_ = false;
};

void make_service_monitor_jobs(const ObjectView& spec, const JobContext&, JobList&);
void make_pod_monitor_jobs(const ObjectView& spec, const JobContext&, JobList&);
void make_probe_job(const ObjectView& spec, const JobContext&, JobList&);
void make_scrape_config_job(const ObjectView& spec, const JobContext&, JobList&);

}  // namespace k8s_sd::inline v0::detail
