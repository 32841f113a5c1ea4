#pragma once

#include "options.hpp"

#include <iosfwd>

namespace k8s_sd_program {

/// Reads the configuration file and lists its jobs, or every mistake in it. Opens no port and
/// contacts no server.
/// \param out     the jobs, and the work left to their agents
/// \param errors  one mistake a line
cli::ExitStatus check_config(const Options&, std::ostream& out, std::ostream& errors);

}  // namespace k8s_sd_program
