#pragma once

#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>
#include <vector>

namespace k8s_sd_program {

/// Removes the rules for an agent's share of the targets: `keep` with `$(SHARD)`, expanded by the
/// Prometheus operator in each agent. A list is for all agents; a reader requests its own part.
k8s_sd::ScrapeConfig without_share_rules(k8s_sd::ScrapeConfig);

/// Notes for users of a file, one a line: keys without effect on the targets or unknown to the
/// program and, for each job, the work left to its agents.
std::vector<std::string> notes_of(const k8s_sd::ScrapeConfigFile&);

}  // namespace k8s_sd_program
