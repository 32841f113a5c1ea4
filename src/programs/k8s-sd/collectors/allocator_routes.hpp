#pragma once

#include "collectors/target_allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_jobs.hpp"

namespace k8s_sd_program {

/// The part of the Target Allocator's API used by OpenTelemetry's collectors: /scrape_configs,
/// /jobs and /jobs/{job}/targets.
/// \param allocator, jobs  outlive the routes; used on the server's executor
void add_allocator_routes(http::HttpRoutes&, const TargetAllocator& allocator,
                          const ServedJobs& jobs, ServeMetrics& metrics);

}  // namespace k8s_sd_program
