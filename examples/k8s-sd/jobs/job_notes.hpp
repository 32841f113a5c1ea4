#pragma once

#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>
#include <vector>

namespace bridge {

/// The configuration without rules that keep an agent's share of the targets: `keep` with
/// `$(SHARD)`, which the Prometheus operator replaces in each agent. A list is for all agents; a
/// reader asks for its part.
k8s_sd::ScrapeConfig without_share_rules(k8s_sd::ScrapeConfig);

/// What users of a file should know, in words, a line each: keys of which targets or nobody knows
/// what become, and for each job what its agents have to do themselves.
std::vector<std::string> notes_of(const k8s_sd::ScrapeConfigFile&);

}  // namespace bridge
