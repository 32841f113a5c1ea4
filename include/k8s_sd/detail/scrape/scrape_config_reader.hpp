#pragma once

#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <array>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Like load_scrape_configs(); records the files read in `files`, even if it throws.
ScrapeConfigFile read_scrape_configs(const std::string& path, const ScrapeConfigOptions&,
                                     ConfigFiles& files);

/// Keys of a job for targets from other sources than Kubernetes.
inline constexpr std::array<std::string_view, 3> target_config_keys{
    "static_configs", "file_sd_configs", "http_sd_configs"};

/// Reads these keys of an entry of `scrape_configs` into the job. Errors contain file, line and
/// key.
/// \param file_name  base of relative paths
void read_target_configs(const YamlValue& entry, LabelDialect, const std::string& file_name, Job&,
                         Mistakes&);

}  // namespace k8s_sd::inline v0::detail
