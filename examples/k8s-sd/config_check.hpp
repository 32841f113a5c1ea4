#pragma once

#include "options.hpp"

#include <iosfwd>

namespace bridge {

/// Reads the file of the configuration and tells which jobs it has, or every mistake in it. Opens
/// no port and contacts no server.
/// \param out     the jobs, and what their agents have to do themselves
/// \param errors  mistakes, a line each
support::ExitStatus check_config(const Options&, std::ostream& out, std::ostream& errors);

}  // namespace bridge
