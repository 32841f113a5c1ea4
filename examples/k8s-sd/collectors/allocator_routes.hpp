#pragma once

#include "collectors/allocator.hpp"
#include "jobs/bridge_metrics.hpp"
#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

namespace bridge {

/// What OpenTelemetry's collectors ask of a Target Allocator: /scrape_configs, /jobs and
/// /jobs/{job}/targets.
/// \param allocator, jobs  outlive them; asked on the server's executor
void add_allocator_routes(support::HttpRoutes&, const Allocator& allocator, const ServedJobs& jobs,
                          BridgeMetrics& metrics);

}  // namespace bridge
