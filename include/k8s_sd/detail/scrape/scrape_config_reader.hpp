#pragma once

#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// Like load_scrape_configs(); records the files read in `files`, even if it throws.
ScrapeConfigFile read_scrape_configs(const std::string& path, const ScrapeConfigOptions&,
                                     ConfigFiles& files);

}  // namespace k8s_sd::inline v0::detail
