#pragma once

#include "http/http_server.hpp"
#include "jobs/job_walk.hpp"
#include "table/target_page.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// The parameters of /api/v1/targets.
struct PrometheusRequest {
    bool active = true, dropped = true;
    std::string pool{};  ///< empty: all
    /// Selectors; at least one must match. None: all targets.
    std::vector<TargetQuery> match{};
    std::optional<std::size_t> limit{};  ///< of all targets together
    std::optional<TargetCursor> after{};
};

/// A pool of Prometheus corresponds to a job.
struct PrometheusPool {
    NamedJob job;
    std::size_t keep_dropped = 0;  ///< `keep_dropped_targets`; 0: all
};

/// Responds with these targets of one or all pools, and the number of dropped ones in each. Without
/// a limit the response is streamed piece by piece as the client receives it.
/// \param pass  held until a streamed response has ended
/// \param slow    the response if there is no time for a request with a limit
/// \param failed  receives exceptions of a request with a limit
void answer_prometheus_targets(std::vector<PrometheusPool>, PrometheusRequest, Gate::Pass pass,
                               http::HttpServer::Reply slow, const http::HttpServer::Respond&,
                               OnFailure failed);

}  // namespace k8s_sd_program
