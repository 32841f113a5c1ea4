#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <cstddef>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Options and limits for writing a value as JSON. Limits are needed: an anchor may contain itself.
struct JsonOptions {
    std::size_t max_values = 10'000;
    std::size_t max_bytes = std::size_t{1} << 20;
    /// Every scalar is a text, regardless of its YAML type.
    bool scalars_are_texts = false;
};

/// The value as JSON text. Plain scalars have their YAML 1.1 types; numbers valid in JSON stay as
/// written, others become texts.
/// \throws ConfigError also if it is nested deeper than 32 levels or exceeds the options
K8S_SD_EXPORT std::string to_json(const YamlValue&, const JsonOptions& = {});

}  // namespace k8s_sd::inline v0::detail
