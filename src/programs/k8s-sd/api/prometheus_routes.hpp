#pragma once

#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "jobs/slow_work.hpp"

#include <memory>

namespace k8s_sd_program {

/// The part of Prometheus' API used by tools: /api/v1/targets, /api/v1/scrape_pools,
/// /api/v1/scrape_pools/config, /api/v1/targets/relabel_steps.
void add_prometheus_routes(http::HttpRoutes&, const ServedJobs& jobs, const Gate& gate,
                           const std::shared_ptr<SlowWork>& slow);

}  // namespace k8s_sd_program
