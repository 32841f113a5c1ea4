#pragma once

#include "collectors/allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/bridge_metrics.hpp"
#include "jobs/served_jobs.hpp"

namespace bridge {

/// The part of the Target Allocator's API used by OpenTelemetry's collectors: /scrape_configs,
/// /jobs and /jobs/{job}/targets.
/// \param allocator, jobs  outlive the routes; used on the server's executor
void add_allocator_routes(support::HttpRoutes&, const Allocator& allocator, const ServedJobs& jobs,
                          BridgeMetrics& metrics);

}  // namespace bridge
