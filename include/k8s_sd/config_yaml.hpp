#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/role.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The value of a variable that a configuration file names, or nullopt if it has none. For text in
/// vmagent's dialect, which has the values of environment variables in place of `%{NAME}`, also
/// within values. What has no value stays as it is. Without such a function, text that has a
/// `%{NAME}` is refused: the library reads no environment behind the host's back. Called during the
/// parsing, by whoever parses; see ScrapeConfigReloader for how long.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Reads one entry of `kubernetes_sd_configs`, alone or as a list of one, with the keys and rules
/// of Prometheus and vmagent, and validates it. Unknown keys are errors; keys that these programs
/// have and k8s_sd has not are errors that say so. Relative paths are relative to the directory of
/// `file_name`, which need not exist. docs/guide/configuration.md lists all keys. Thread-safe.
/// \param max_bytes  of the text with the values of its variables
/// \throws ConfigError where "file:line: key" of the first mistake; its text names all of them
K8S_SD_EXPORT DiscoveryConfig parse_sd_config(std::string_view yaml, LabelDialect dialect,
                                              const std::string& file_name = "<yaml>",
                                              const VariableLookup& = {},
                                              std::size_t max_bytes = std::size_t{4} << 20);

/// Reads the file; blocks. See parse_sd_config().
/// \param max_bytes  of the file, also with the values of its variables
/// \throws ConfigError also where the file cannot be read
K8S_SD_EXPORT DiscoveryConfig load_sd_config(const std::string& path, LabelDialect dialect,
                                             const VariableLookup& = {},
                                             std::size_t max_bytes = std::size_t{4} << 20);

/// Role by name; "endpointslices" is vmagent's alias and valid in its dialect only.
/// \throws ConfigError where "role", naming the roles
K8S_SD_EXPORT Role parse_role(std::string_view name, LabelDialect dialect);

}  // namespace k8s_sd::inline v0
