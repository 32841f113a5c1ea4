#pragma once

#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>
#include <vector>

namespace k8s_sd_program {

/// The jobs in the format for collectors: a JSON object by job name, each with the members of an
/// entry of Prometheus' `scrape_configs`, without discovery: a collector adds its own.
/// \param show_secrets  false: secrets are replaced by "<secret>"
/// \param problems      in words: jobs left out because only vmagent could scrape them, and keys
///                      left out because they are unknown to Prometheus or may be secret
std::string collector_configs(const k8s_sd::ScrapeConfigFile&, bool show_secrets,
                              std::vector<std::string>& problems);

}  // namespace k8s_sd_program
