#pragma once

#include "bridge_metrics.hpp"
#include "list_body.hpp"
#include "served_jobs.hpp"
#include "support/http_routes.hpp"
#include "support/http_server.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace bridge {

/// What a reader of lists can do with an answer.
struct Reader {
    std::string if_none_match;    ///< the header
    std::string accept_encoding;  ///< the header
};

/// A list as this reader gets it: 200, compressed if it likes, or 304.
support::HttpServer::Reply list_reply(const ListBody&, const Reader&);

/// What the routes ask the program for.
struct RouteEvents {
    std::function<std::string()> metrics;  ///< of the library, as text
    support::HttpRoutes::Handler reload;   ///< POST /-/reload
};

/// All paths that the program answers.
/// \param jobs     outlives them, as `metrics` does; asked on the server's executor
support::HttpRoutes routes(const ServedJobs& jobs, BridgeMetrics& metrics, const RouteEvents&);

}  // namespace bridge
