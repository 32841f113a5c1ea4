#pragma once

#include "k8s_sd/detail/config/yaml/yaml_document.hpp"

namespace k8s_sd::inline v0::detail {

/// Parses the subset of YAML usually written by programs: mappings and sequences by indentation,
/// single-line scalars and flow collections, comments. It is about ten times as fast as the parser
/// of the whole language, and configuration files of operators have megabytes.
/// \returns false if the text contains anything else, even an error; the document is then empty
/// \throws ConfigError for too many values
bool read_simple_yaml(YamlDocument&);

}  // namespace k8s_sd::inline v0::detail
