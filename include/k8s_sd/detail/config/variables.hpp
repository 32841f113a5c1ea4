#pragma once

#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The text of a configuration file with the values of variables in place of `%{NAME}`, as vmagent
/// reads it: also within values; what has no value stays as it is. Where the dialect knows no
/// variables the text stays as it is.
/// \param most_bytes  of the result
/// \throws ConfigError where "file:line": there is a variable, but nobody to ask for it; or the
///         values contain one another without end
K8S_SD_EXPORT std::string expand_variables(std::string_view text, LabelDialect,
                                           const VariableLookup&, const std::string& file,
                                           std::size_t most_bytes);

}  // namespace k8s_sd::inline v0::detail
