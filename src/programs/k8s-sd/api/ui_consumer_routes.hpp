#pragma once

#include "collectors/target_allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/consumers.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

namespace k8s_sd_program {

/// The readers of the lists, and whether their lists are current: /api/ui/consumers.
void add_consumer_routes(http::HttpRoutes&, const ServedJobs& jobs, const TargetAllocator&,
                         Consumers& consumers, const Gate& gate);

}  // namespace k8s_sd_program
