#pragma once

#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>

namespace bridge {

/// What a job is, as an entry of `scrape_configs`: how its targets are found and made. How they are
/// scraped is left out where it may be secret.
std::string to_yaml(const k8s_sd::ScrapeJob&);

}  // namespace bridge
