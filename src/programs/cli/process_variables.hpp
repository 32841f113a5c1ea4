#pragma once

#include "k8s_sd/config_yaml.hpp"

namespace cli {

/// The environment of this process, for `%{NAME}` in vmagent's files.
k8s_sd::VariableLookup process_variables();

}  // namespace cli
