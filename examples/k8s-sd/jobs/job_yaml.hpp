#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>

namespace bridge {

/// What a job is, as an entry of `scrape_configs`: how its targets are found and made. How they are
/// scraped is left out where it may be secret.
std::string to_yaml(const k8s_sd::ScrapeJob&);

/// What a job looks at, for people: "pods in namespaces a, b with labels app=web".
std::string in_words(const k8s_sd::Job&);

}  // namespace bridge
