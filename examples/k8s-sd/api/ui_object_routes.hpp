#pragma once

#include "collectors/allocator.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

namespace bridge {

/// /api/ui/object: the jobs with an object, those without it, and why.
void add_object_routes(support::HttpRoutes&, const ServedJobs& jobs, const Allocator&,
                       const Gate& gate);

}  // namespace bridge
