#pragma once

#include "collectors/allocator.hpp"
#include "jobs/bridge_metrics.hpp"
#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <string>

namespace bridge {

/// What the routes ask the program for.
struct RouteEvents {
    std::function<std::string()> metrics;   ///< of the library, as text
    std::function<std::string()> trouble;   ///< with the configuration and files, a line each
    support::HttpRoutes::Handler reload;    ///< POST /-/reload
    boost::asio::any_io_executor executor;  ///< of the server
    std::string page_directory;             ///< see add_page_routes()
    bool ready_with_left_out_jobs = false;  ///< although a mistake leaves out jobs
};

/// All paths that the program answers.
/// \param jobs     outlives them, as the others do; asked on the server's executor
support::HttpRoutes routes(const ServedJobs& jobs, const Allocator& allocator,
                           BridgeMetrics& metrics, const RouteEvents&);

}  // namespace bridge
