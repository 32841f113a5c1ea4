#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/role.hpp"

#include <string>

namespace cli {

/// The option --dialect. Prometheus' dialect may have a version: prometheus@3.14.
/// \param subject  the subject of the dialect, for --help: "labels as of"
Option dialect_option(const std::string& subject, k8s_sd::LabelDialect& dialect,
                      k8s_sd::PrometheusVersion& version);

}  // namespace cli
