#pragma once

#include "collectors/target_allocator.hpp"
#include "http/http_routes.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_jobs.hpp"
#include "jobs/slow_work.hpp"
#include "k8s_sd/status.hpp"
#include "monitors/monitor_page.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// Dependencies of the routes on the program.
struct RouteEvents {
    std::function<std::string()> metrics;  ///< of the library, as text
    /// Problems with the configuration, certificates and files, one a line.
    std::function<std::string()> trouble;
    /// The health and the use of the API servers, with those that cannot be used.
    std::function<std::vector<k8s_sd::ServerHealth>()> servers;
    /// Jobs of monitors without targets, and why, one a line: no problem of this program.
    std::function<std::string()> idle_monitors;
    std::function<std::string(const MonitorPage&)> monitors;  ///< of the cluster, as JSON
    http::HttpRoutes::Handler reload;                         ///< POST /-/reload
    boost::asio::any_io_executor executor;                    ///< of the server
    std::string page_directory;                               ///< see add_page_routes()
    std::shared_ptr<SlowWork> slow;                           ///< tries the rules of clients
    bool ready_with_left_out_jobs = false;  ///< in spite of jobs left out because of mistakes
};

/// All routes of the program.
/// \param jobs     outlives them, like the others; used on the server's executor
http::HttpRoutes routes(const ServedJobs& jobs, const TargetAllocator& allocator,
                        ServeMetrics& metrics, const RouteEvents&);

}  // namespace k8s_sd_program
