#pragma once

#include "cli/line_writer.hpp"
#include "options.hpp"

namespace discover {

using cli::LineWriter;

/// Tries every step the configuration needs, and prints a line for each.
cli::ExitStatus check_access(Options, LineWriter&);

}  // namespace discover
