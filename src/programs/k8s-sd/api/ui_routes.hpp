#pragma once

#include "collectors/target_allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

#include <string>

namespace k8s_sd_program {

/// Jobs and targets of the page: /api/ui/status, /api/ui/targets, /api/ui/target.
void add_ui_routes(http::HttpRoutes&, const ServedJobs& jobs, const TargetAllocator&,
                   const Gate& gate);

/// The response of /api/ui/status, without the time.
std::string status_json(const ServedJobs& jobs);

}  // namespace k8s_sd_program
