#pragma once

#include "jobs/bridge_metrics.hpp"
#include "jobs/served_jobs.hpp"
#include "lists/list_body.hpp"
#include "support/http_routes.hpp"
#include "support/http_server.hpp"

#include <chrono>
#include <string>

namespace bridge {

/// What a reader of lists can do with an answer.
struct Reader {
    std::string if_none_match;    ///< the header
    std::string accept_encoding;  ///< the header
};

/// 503: the reader keeps what it has, and tries again soon.
support::HttpServer::Reply later_reply(const std::string& reason);

/// There is no such job: 404, or 503 if it is left out because of a mistake.
/// \param hint  is added to 404
support::HttpServer::Reply missing_job_reply(const ServedJobs&, const std::string& name,
                                             const std::string& hint = {});

/// Who asks, for Consumers; without the selection and the answer.
ListPoll poll_of(const support::HttpServer::Request&, const std::string& job, const ListContent&);

/// How long the reader waits for an answer: its interval, as Prometheus and vmagent tell it, less
/// what the answer may take.
std::chrono::nanoseconds patience_of(const support::HttpServer::Request&);

/// A list as this reader gets it: 200, compressed if it likes, or 304.
support::HttpServer::Reply list_reply(const ListBody&, const Reader&);

/// The lists of the jobs: /sd/{job} and /sd/{job}/targets. For the parameters see routes().
void add_list_routes(support::HttpRoutes&, const ServedJobs& jobs, BridgeMetrics& metrics);

}  // namespace bridge
