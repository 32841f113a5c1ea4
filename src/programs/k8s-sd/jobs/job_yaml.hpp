#pragma once

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>

namespace k8s_sd_program {

/// A job as an entry of `scrape_configs`: how its targets are found and made. Scrape options are
/// omitted if they may be secret.
std::string to_yaml(const k8s_sd::ScrapeJob&);

/// The objects of a job, for users: "pods in namespaces a, b with labels app=web".
std::string in_words(const k8s_sd::Job&);

}  // namespace k8s_sd_program
