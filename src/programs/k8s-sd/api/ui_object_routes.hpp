#pragma once

#include "collectors/allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

namespace bridge {

/// /api/ui/object: the jobs with an object, those without it, and why.
void add_object_routes(support::HttpRoutes&, const ServedJobs& jobs, const Allocator&,
                       const Gate& gate);

}  // namespace bridge
