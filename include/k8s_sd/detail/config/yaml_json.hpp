#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"

#include <cstddef>
#include <string>

namespace k8s_sd::inline v0::detail {

/// How to write a value as JSON, and how much of it: an anchor can stand for itself.
struct JsonOptions {
    std::size_t most_values = 10'000;
    std::size_t most_bytes = std::size_t{1} << 20;
    /// Every scalar is a text, whatever it looks like.
    bool scalars_are_texts = false;
};

/// The value as JSON text. Plain scalars have the types that YAML 1.1 gives them; numbers that JSON
/// can write stay as they are written, others are texts.
/// \throws ConfigError also if it is nested deeper than 32 levels or exceeds the options
K8S_SD_EXPORT std::string to_json(const YamlValue&, const JsonOptions& = {});

}  // namespace k8s_sd::inline v0::detail
