#pragma once

#include "jobs/bridge_metrics.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

namespace bridge {

/// Who reads the lists, and how targets are divided: /api/ui/consumers, /api/ui/shards.
void add_fleet_routes(support::HttpRoutes&, const ServedJobs& jobs, const BridgeMetrics&,
                      const Gate& gate);

}  // namespace bridge
