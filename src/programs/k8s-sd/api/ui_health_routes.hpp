#pragma once

#include "http/http_routes.hpp"
#include "jobs/served_jobs.hpp"
#include "k8s_sd/status.hpp"

#include <functional>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// /api/ui/health: the state of each watch of each job.
/// \param servers  see RouteEvents
/// \param trouble  problems with the configuration, certificates and files, one a line
void add_health_routes(http::HttpRoutes&, const ServedJobs& jobs,
                       std::function<std::vector<k8s_sd::ServerHealth>()> servers,
                       std::function<std::string()> trouble);

}  // namespace k8s_sd_program
