#pragma once

#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <vector>

namespace k8s_sd::inline v0::detail {

/// Reads a list of relabelling rules (null: none) and checks them. For parse_relabel_configs() and
/// for what has such a list among other things.
/// \throws ConfigError where "file:line: path of the list[0].regex"
std::vector<RelabelRule> read_relabel_rules(const YamlValue& list, const RelabelOptions&);

}  // namespace k8s_sd::inline v0::detail
