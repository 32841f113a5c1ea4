#pragma once

#include "http/http_routes.hpp"
#include "jobs/served_jobs.hpp"

#include <boost/asio/any_io_executor.hpp>

namespace k8s_sd_program {

/// Past and live changes: /api/ui/history, /api/ui/live.
/// \param executor  of the server
void add_live_routes(http::HttpRoutes&, const ServedJobs& jobs,
                     const boost::asio::any_io_executor& executor);

}  // namespace k8s_sd_program
