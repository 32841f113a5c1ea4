#pragma once

#include "cli/line_writer.hpp"
#include "options.hpp"

namespace discover {

using cli::LineWriter;

/// Prints a manifest with the required permissions of the configuration. Sends no request.
/// \throws cli::UsageError for another form of the account, k8s_sd::ConfigError
void print_rbac(const Options&, LineWriter&);

}  // namespace discover
