#pragma once

#include "collectors/target_allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

namespace k8s_sd_program {

/// /api/ui/object: the jobs with an object, those without it, and why.
void add_object_routes(http::HttpRoutes&, const ServedJobs& jobs, const TargetAllocator&,
                       const Gate& gate);

}  // namespace k8s_sd_program
