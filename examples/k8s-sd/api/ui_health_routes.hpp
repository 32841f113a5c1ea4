#pragma once

#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

#include <functional>
#include <string>

namespace bridge {

/// /api/ui/health: how each watch of each job is doing.
/// \param trouble  with the configuration and with files, a line each
void add_health_routes(support::HttpRoutes&, const ServedJobs& jobs,
                       std::function<std::string()> trouble);

}  // namespace bridge
