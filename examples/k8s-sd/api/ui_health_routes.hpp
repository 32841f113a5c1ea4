#pragma once

#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

namespace bridge {

/// /api/ui/health: how each watch of each job is doing.
void add_health_routes(support::HttpRoutes&, const ServedJobs& jobs);

}  // namespace bridge
