#pragma once

#include "collectors/target_allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

namespace k8s_sd_program {

/// The division of targets: /api/ui/shards, /api/ui/collectors.
void add_fleet_routes(http::HttpRoutes&, const ServedJobs& jobs, const TargetAllocator&,
                      const Gate& gate);

}  // namespace k8s_sd_program
