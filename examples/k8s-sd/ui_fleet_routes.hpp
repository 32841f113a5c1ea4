#pragma once

#include "bridge_metrics.hpp"
#include "gate.hpp"
#include "served_jobs.hpp"
#include "support/http_routes.hpp"

namespace bridge {

/// Who reads the lists, and how targets are divided: /api/ui/consumers, /api/ui/shards.
void add_fleet_routes(support::HttpRoutes&, const ServedJobs& jobs, const BridgeMetrics&,
                      const Gate& gate);

}  // namespace bridge
