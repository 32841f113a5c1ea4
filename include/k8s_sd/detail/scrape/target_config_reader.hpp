#pragma once

#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/dialect.hpp"
#include "k8s_sd/discovery_manager.hpp"

#include <array>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The keys of a job that name targets which do not come from Kubernetes.
inline constexpr std::array<std::string_view, 3> target_config_keys{
    "static_configs", "file_sd_configs", "http_sd_configs"};

/// Reads these keys of an entry of `scrape_configs` into the job. Mistakes name file, line and key.
/// \param file_name  relative paths are relative to its directory
void read_target_configs(const YamlValue& entry, LabelDialect, const std::string& file_name, Job&,
                         Mistakes&);

}  // namespace k8s_sd::inline v0::detail
