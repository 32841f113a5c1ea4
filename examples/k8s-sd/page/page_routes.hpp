#pragma once

#include "jobs/served_jobs.hpp"
#include "support/http_routes.hpp"

#include <string>

namespace bridge {

/// The page: / and its files. Who does not ask for HTML gets a summary in words.
/// \param jobs       outlives them; asked on the server's executor
/// \param directory  where the files are read at each request, for who works on them; empty: those
///                   of the program
void add_page_routes(support::HttpRoutes&, const ServedJobs& jobs, const std::string& directory);

}  // namespace bridge
