#pragma once

#include "cli/line_writer.hpp"
#include "k8s_sd/config.hpp"

#include <string>

namespace discover {

using support::LineWriter;

/// Prints a manifest with the required permissions of the configuration. Sends no request.
/// \param monitors  whether to include the watches of monitors
/// \param account   "NAMESPACE/NAME" of the service account to authorize
/// \throws support::UsageError for another form, k8s_sd::ConfigError
void print_rbac(const k8s_sd::DiscoveryConfig&, bool monitors, const std::string& account,
                LineWriter&);

}  // namespace discover
