#pragma once

#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// As load_scrape_configs(); `files` knows afterwards what was read, also if this throws.
ScrapeConfigFile read_scrape_configs(const std::string& path, const ScrapeConfigOptions&,
                                     ConfigFiles& files);

}  // namespace k8s_sd::inline v0::detail
