#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// One validated entry of `kubernetes_sd_configs`, see parse_sd_config(). Unusable if there are
/// mistakes.
K8S_SD_EXPORT DiscoveryConfig read_sd_config(const YamlValue& entry, LabelDialect,
                                             const std::string& file_name, Mistakes&);

}  // namespace k8s_sd::inline v0::detail
