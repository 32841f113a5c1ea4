#pragma once

#include "http/http_routes.hpp"
#include "jobs/bridge_metrics.hpp"
#include "jobs/served_jobs.hpp"

namespace bridge {

/// Streams of lists: GET /v1/watch.
void add_watch_routes(support::HttpRoutes&, const ServedJobs& jobs, BridgeMetrics& metrics);

}  // namespace bridge
