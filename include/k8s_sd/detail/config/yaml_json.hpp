#pragma once

#include "k8s_sd/detail/config/yaml_value.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// The value as JSON text. Plain scalars have the types that YAML 1.1 gives them.
/// \throws ConfigError also if it is nested deeper than 32 levels or has more than 10 000 values:
///         an anchor can stand for itself
std::string to_json(const YamlValue&);

}  // namespace k8s_sd::inline v0::detail
