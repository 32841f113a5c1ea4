#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <boost/json/value.hpp>
#include <string>

namespace k8s_sd::inline v0::detail {

/// A JSON value for the readers of YAML, without its text: texts keep every character, and nothing
/// in them is an anchor, a merge key or a variable.
/// \throws ConfigError if it is nested too deep, or has too many values
K8S_SD_EXPORT YamlValue yaml_of(const boost::json::value&, const std::string& file);

}  // namespace k8s_sd::inline v0::detail
