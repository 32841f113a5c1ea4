#pragma once

#include "k8s_sd/detail/config/yaml_document.hpp"

namespace k8s_sd::inline v0::detail {

/// Reads the text of a document in the part of YAML that programs write: mappings and sequences by
/// indentation, scalars and flow collections that end on their line, comments. This is some ten
/// times as fast as the whole language, and configuration files of operators have megabytes.
/// \returns false if there is anything else in it, be it an error; then the document is empty
/// \throws ConfigError for too many values
bool read_simple_yaml(YamlDocument&);

}  // namespace k8s_sd::inline v0::detail
