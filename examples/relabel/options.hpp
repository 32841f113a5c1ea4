#pragma once

#include "k8s_sd/relabel/relabeler.hpp"
#include "support/command_line.hpp"

#include <string>

namespace relabel {

/// What the command line asks for.
struct Options {
    std::string rules_file;   ///< this or the next two
    std::string config_file;  ///< of Prometheus or vmagent
    std::string job;          ///< one of that file's
    k8s_sd::RelabelOptions rules;
    bool explain = false;
};

/// The options of the program, which set these.
support::CommandLine command_line(Options&);

/// \throws support::UsageError for options that do not go together
void check(const Options&);

}  // namespace relabel
