#pragma once

#include "k8s_sd/config.hpp"
#include "support/line_writer.hpp"

#include <string>

namespace discover {

using support::LineWriter;

/// Prints a manifest with what the configuration needs to be allowed. Asks no server.
/// \param account  "NAMESPACE/NAME" of the service account that gets the rights
/// \throws support::UsageError for another form, k8s_sd::ConfigError
void print_rbac(const k8s_sd::DiscoveryConfig&, const std::string& account, LineWriter&);

}  // namespace discover
