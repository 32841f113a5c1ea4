#pragma once

#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// Reads a list of `relabel_configs`, with the keys and rules of Prometheus and vmagent: either the
/// list alone, or a mapping whose only key is `relabel_configs`. Unknown keys are errors. Checks
/// the rules as Relabeler does. Thread-safe.
/// \param max_bytes  of the text with the values of its variables
/// \throws ConfigError where "file:line: key" of the first mistake; its text names one of each rule
///         that has any
K8S_SD_EXPORT std::vector<RelabelRule> parse_relabel_configs(
    std::string_view yaml, RelabelOptions = {}, const std::string& file_name = "<yaml>",
    const VariableLookup& = {}, std::size_t max_bytes = std::size_t{4} << 20);

/// Reads the file; blocks. See parse_relabel_configs().
/// \param max_bytes  of the file, also with the values of its variables
/// \throws ConfigError also where the file cannot be read
K8S_SD_EXPORT std::vector<RelabelRule> load_relabel_configs(const std::string& path,
                                                            RelabelOptions = {},
                                                            const VariableLookup& = {},
                                                            std::size_t max_bytes = std::size_t{4}
                                                                                    << 20);

}  // namespace k8s_sd::inline v0
