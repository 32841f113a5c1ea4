#pragma once

#include "options.hpp"
#include "support/line_writer.hpp"

namespace discover {

using support::LineWriter;

/// Tries every step the configuration needs, and prints a line for each.
support::ExitStatus check_access(Options, LineWriter&);

}  // namespace discover
