#pragma once

#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "jobs/slow_work.hpp"
#include "support/http_routes.hpp"

#include <memory>

namespace bridge {

/// POST /api/ui/relabel: what other rules would make of a target, and of all. Changes nothing.
void add_relabel_routes(support::HttpRoutes&, const ServedJobs& jobs, const Gate& gate,
                        const std::shared_ptr<SlowWork>& slow);

}  // namespace bridge
