#pragma once

#include "collectors/allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

namespace bridge {

/// The division of targets: /api/ui/shards, /api/ui/collectors.
void add_fleet_routes(support::HttpRoutes&, const ServedJobs& jobs, const Allocator&,
                      const Gate& gate);

}  // namespace bridge
