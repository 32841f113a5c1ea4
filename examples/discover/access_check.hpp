#pragma once

#include "options.hpp"
#include "support/line_writer.hpp"

namespace discover {

using support::LineWriter;

/// Tries everything that the configuration needs, and prints a line each.
support::ExitStatus check_access(Options, LineWriter&);

}  // namespace discover
