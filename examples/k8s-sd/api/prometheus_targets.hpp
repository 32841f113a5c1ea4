#pragma once

#include "jobs/job_walk.hpp"
#include "support/http_server.hpp"
#include "table/target_page.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

/// What is asked of /api/v1/targets.
struct PrometheusRequest {
    bool active = true, dropped = true;
    std::string pool{};  ///< empty: all
    /// Selectors, one of which must match; none: all targets.
    std::vector<TargetQuery> match{};
    std::optional<std::size_t> limit{};  ///< of all targets together
    std::optional<TargetCursor> after{};
};

/// A pool of Prometheus is a job.
struct PrometheusPool {
    NamedJob job;
    std::size_t keep_dropped = 0;  ///< `keep_dropped_targets`; 0: all
};

/// Answers with these targets: of all pools, or of one, and how many dropped ones each has. Without
/// a limit the answer is made a piece at a time, as the client takes it.
/// \param pass  kept until a streamed answer has ended
/// \param slow    the answer where there is no time for one with a limit
/// \param failed  gets what goes wrong with one with a limit
void answer_prometheus_targets(std::vector<PrometheusPool>, PrometheusRequest, Gate::Pass pass,
                               support::HttpServer::Reply slow, const support::HttpServer::Respond&,
                               OnFailure failed);

}  // namespace bridge
