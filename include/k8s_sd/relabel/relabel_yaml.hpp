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
/// list alone, or a mapping with `relabel_configs` as its only key. Unknown keys are errors. Checks
/// the rules as Relabeler does. Thread-safe.
/// \param max_bytes  limit of the text after the expansion of variables
/// \throws ConfigError with "file:line: key" of the first mistake as where(); the problem names one
///         mistake of each invalid rule
K8S_SD_EXPORT std::vector<RelabelRule> parse_relabel_configs(
    std::string_view yaml, RelabelOptions = {}, const std::string& file_name = "<yaml>",
    const VariableLookup& = {}, std::size_t max_bytes = std::size_t{4} << 20);

/// Reads and parses a file; blocks. See parse_relabel_configs().
/// \param max_bytes  limit of the file's size, before and after the expansion of variables
/// \throws ConfigError also for an unreadable file
K8S_SD_EXPORT std::vector<RelabelRule> load_relabel_configs(const std::string& path,
                                                            RelabelOptions = {},
                                                            const VariableLookup& = {},
                                                            std::size_t max_bytes = std::size_t{4}
                                                                                    << 20);

}  // namespace k8s_sd::inline v0
