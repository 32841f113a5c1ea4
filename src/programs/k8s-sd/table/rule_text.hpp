#pragma once

#include "k8s_sd/relabel/relabeler.hpp"
#include "table/json_writer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// A rule in words: "drop if __meta_kubernetes_pod_phase matches Succeeded|Failed".
std::string in_words(const k8s_sd::RelabelRule&);

/// The rule as an entry of `relabel_configs`, without default values.
std::string to_yaml(const k8s_sd::RelabelRule&);
/// All rules, each on lines of its own; parse_relabel_configs() restores the same rules.
std::string to_yaml(const k8s_sd::RelabelRules&);

/// Quotes texts for YAML as JSON strings; JSON is valid YAML.
std::string quoted(std::string_view text);
std::string quoted(const std::vector<std::string>& texts);

/// Writes a rule in the format of Prometheus' API.
void write_rule(JsonWriter&, const k8s_sd::RelabelRule&);

}  // namespace k8s_sd_program
