#pragma once

#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// \returns false if expand_variables() would return the text as it is
K8S_SD_EXPORT bool may_have_variables(std::string_view text, LabelDialect);

/// Expands `%{NAME}` in the text of a configuration file, like vmagent: also within values; a
/// variable without a value is left unchanged. In a dialect without variables the whole text is
/// left unchanged.
/// \param max_bytes  maximum size of the result
/// \throws ConfigError where "file:line": there is a variable, but no lookup function; or values
///         refer to each other without end
K8S_SD_EXPORT std::string expand_variables(std::string_view text, LabelDialect,
                                           const VariableLookup&, const std::string& file,
                                           std::size_t max_bytes);

}  // namespace k8s_sd::inline v0::detail
