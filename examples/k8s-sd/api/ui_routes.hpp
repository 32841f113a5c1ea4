#pragma once

#include "collectors/allocator.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

#include <string>

namespace bridge {

/// What the page shows of jobs and targets: /api/ui/status, /api/ui/targets, /api/ui/target.
void add_ui_routes(support::HttpRoutes&, const ServedJobs& jobs, const Allocator&,
                   const Gate& gate);

/// As /api/ui/status tells it, without the time.
std::string status_json(const ServedJobs& jobs);

}  // namespace bridge
