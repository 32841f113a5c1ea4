#pragma once

#include "http/http_routes.hpp"
#include "jobs/served_jobs.hpp"

#include <string>

namespace k8s_sd_program {

/// The page: / and its files. Clients that do not accept HTML get a summary as text.
/// \param jobs       outlives the routes; used on the server's executor
/// \param directory  read the files from here at each request, for development; empty: the
///                   built-in ones
void add_page_routes(http::HttpRoutes&, const ServedJobs& jobs, const std::string& directory);

}  // namespace k8s_sd_program
