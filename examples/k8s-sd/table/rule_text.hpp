#pragma once

#include "k8s_sd/relabel/relabeler.hpp"
#include "table/json_writer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// What a rule does, for people: "drop if __meta_kubernetes_pod_phase matches Succeeded|Failed".
std::string in_words(const k8s_sd::RelabelRule&);

/// The rule as an entry of `relabel_configs`: what it says besides defaults.
std::string to_yaml(const k8s_sd::RelabelRule&);
/// All of them, each on lines of its own; parse_relabel_configs() reads the same rules again.
std::string to_yaml(const std::vector<k8s_sd::RelabelRule>&);

/// For YAML, which JSON is.
std::string quoted(std::string_view text);
std::string quoted(const std::vector<std::string>& texts);

/// As Prometheus' API writes a rule.
void write_rule(JsonWriter&, const k8s_sd::RelabelRule&);

}  // namespace bridge
