#pragma once

#include "collectors/allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/consumers.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"

namespace bridge {

/// The readers of the lists, and whether their lists are current: /api/ui/consumers.
void add_consumer_routes(support::HttpRoutes&, const ServedJobs& jobs, const Allocator&,
                         Consumers& consumers, const Gate& gate);

}  // namespace bridge
