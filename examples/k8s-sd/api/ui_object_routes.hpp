#pragma once

#include "collectors/allocator.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

namespace bridge {

/// /api/ui/object: in which jobs an object is, in which it is not, and why.
void add_object_routes(support::HttpRoutes&, const ServedJobs& jobs, const Allocator&,
                       const Gate& gate);

}  // namespace bridge
