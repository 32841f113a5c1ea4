#pragma once

#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "monitors/monitor_page.hpp"

#include <functional>
#include <string>

namespace k8s_sd_program {

/// `/api/ui/monitors`: a page of the monitors with their states. `/api/ui/monitor`: why a job of a
/// monitor has no targets.
/// \param monitors  makes the first response
void add_monitor_routes(http::HttpRoutes&, const ServedJobs&, const Gate&,
                        std::function<std::string(const MonitorPage&)> monitors);

}  // namespace k8s_sd_program
