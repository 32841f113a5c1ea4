#pragma once

#include "http/http_routes.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_jobs.hpp"

namespace k8s_sd_program {

/// Streams of lists: GET /v1/watch.
void add_watch_routes(http::HttpRoutes&, const ServedJobs& jobs, ServeMetrics& metrics);

}  // namespace k8s_sd_program
