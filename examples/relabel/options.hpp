#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <string>

namespace relabel {

/// The values of the options.
struct Options {
    std::string rules_file;   ///< alternative to the next two
    std::string config_file;  ///< configuration file of Prometheus or vmagent
    std::string job;          ///< a job of this file
    k8s_sd::RelabelOptions rules;
    k8s_sd::PrometheusVersion prometheus_version = k8s_sd::PrometheusVersion::v3_5;
    bool explain = false;
};

/// The options of the program; they set `Options`.
cli::CommandLine command_line(Options&);

/// \throws cli::UsageError for inconsistent options
void check(const Options&);

}  // namespace relabel
