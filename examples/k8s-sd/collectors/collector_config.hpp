#pragma once

#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>
#include <vector>

namespace bridge {

/// The jobs as collectors read them: a JSON object of their names, each with what an entry of
/// `scrape_configs` of Prometheus has, without discovery: a collector puts its own in.
/// \param show_secrets  else they read "<secret>"
/// \param problems      in words: jobs that are left out, as only vmagent could scrape them, and
///                      keys that are, as Prometheus does not know them or they may be secret
std::string collector_configs(const k8s_sd::ScrapeConfigFile&, bool show_secrets,
                              std::vector<std::string>& problems);

}  // namespace bridge
