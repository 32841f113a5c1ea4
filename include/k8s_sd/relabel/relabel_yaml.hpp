#pragma once

#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// Reads a list of `relabel_configs`, with the keys and rules of Prometheus and vmagent: either the
/// list alone, or a mapping whose only key is `relabel_configs`. Unknown keys are errors. Checks
/// the rules as Relabeler does. Thread-safe.
/// \throws ConfigError where "file:line: key"
K8S_SD_EXPORT std::vector<RelabelRule> parse_relabel_configs(
    std::string_view yaml, RelabelOptions = {}, const std::string& file_name = "<yaml>",
    const VariableLookup& = {});

/// Reads the file, which must not exceed 4 MiB; blocks. See parse_relabel_configs().
/// \throws ConfigError also where the file cannot be read
K8S_SD_EXPORT std::vector<RelabelRule> load_relabel_configs(const std::string& path,
                                                            RelabelOptions = {},
                                                            const VariableLookup& = {});

}  // namespace k8s_sd::inline v0
