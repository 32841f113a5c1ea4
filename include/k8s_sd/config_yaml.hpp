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

/// The value of a variable in a configuration file; nullopt if it has none. For vmagent's dialect,
/// with `%{NAME}` for environment variables, also within values. A variable without a value is left
/// as written. Without such a function, text with a `%{NAME}` is refused: the library never reads
/// the environment implicitly. Called while parsing, on the parser's thread; see
/// ScrapeConfigReloader for its lifetime.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Reads one entry of `kubernetes_sd_configs`, alone or as a list of one, with the keys and rules
/// of Prometheus and vmagent, and validates it. Unknown keys are errors; for keys of these programs
/// without support in k8s_sd the error says so. Relative paths are relative to the directory of
/// `file_name`, which need not exist. docs/guide/configuration.md lists all keys. No key selects a
/// version of Prometheus: set DiscoveryConfig::prometheus_version afterwards. Thread-safe.
/// \param max_bytes  limit of the text after the expansion of variables
/// \throws ConfigError with "file:line: key" of the first mistake as where(); the problem lists all
///         mistakes
K8S_SD_EXPORT DiscoveryConfig parse_sd_config(std::string_view yaml, LabelDialect dialect,
                                              const std::string& file_name = "<yaml>",
                                              const VariableLookup& = {},
                                              std::size_t max_bytes = std::size_t{4} << 20);

/// Reads and parses a file; blocks. See parse_sd_config().
/// \param max_bytes  limit of the file's size, before and after the expansion of variables
/// \throws ConfigError also for an unreadable file
K8S_SD_EXPORT DiscoveryConfig load_sd_config(const std::string& path, LabelDialect dialect,
                                             const VariableLookup& = {},
                                             std::size_t max_bytes = std::size_t{4} << 20);

/// The version with this name, such as "3.14".
/// \throws ConfigError with "prometheus_version" as where(); the problem lists the versions
K8S_SD_EXPORT PrometheusVersion parse_prometheus_version(std::string_view name);

/// The role with this name; "endpointslices" is an alias in vmagent's dialect only.
/// \throws ConfigError with "role" as where(); the problem lists the roles
K8S_SD_EXPORT Role parse_role(std::string_view name, LabelDialect dialect);

}  // namespace k8s_sd::inline v0
