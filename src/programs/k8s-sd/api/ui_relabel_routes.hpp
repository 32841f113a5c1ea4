#pragma once

#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "jobs/slow_work.hpp"

#include <memory>

namespace k8s_sd_program {

/// POST /api/ui/relabel: the effect of other rules on one target, and on all. Changes nothing.
void add_relabel_routes(http::HttpRoutes&, const ServedJobs& jobs, const Gate& gate,
                        const std::shared_ptr<SlowWork>& slow);

}  // namespace k8s_sd_program
