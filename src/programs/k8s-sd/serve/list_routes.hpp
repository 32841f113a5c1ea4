#pragma once

#include "http/http_routes.hpp"
#include "http/http_server.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_jobs.hpp"
#include "lists/list_body.hpp"

#include <chrono>
#include <string>

namespace k8s_sd_program {

/// The headers of a reader relevant for the response.
struct Reader {
    std::string if_none_match;    ///< the header
    std::string accept_encoding;  ///< the header
};

/// 503: the reader keeps its targets and retries soon.
http::HttpServer::Reply later_reply(const std::string& reason);

/// The job is missing: 404, or 503 if it is left out because of a mistake.
/// \param hint  appended for 404
http::HttpServer::Reply missing_job_reply(const ServedJobs&, const std::string& name,
                                          const std::string& hint = {});

/// The reader, for Consumers; without the selection and the response.
ListPoll poll_of(const http::HttpServer::Request&, const std::string& job, const ListContent&);

/// How long the reader waits for a response: its interval, as sent by Prometheus and vmagent, less
/// the time for the response itself.
std::chrono::nanoseconds timeout_of(const http::HttpServer::Request&);

/// The response with a list for this reader: 200, compressed if accepted, or 304.
http::HttpServer::Reply list_reply(const ListBody&, const Reader&);

/// Wraps the callback: an exception turns into a response to retry later. Only a lack of memory for
/// one response can cause it.
OnList guarded(const http::HttpServer::Respond&, OnList);

/// The lists of the jobs: /sd/{job} and /sd/{job}/targets. For the parameters see routes().
void add_list_routes(http::HttpRoutes&, const ServedJobs& jobs, ServeMetrics& metrics);

}  // namespace k8s_sd_program
