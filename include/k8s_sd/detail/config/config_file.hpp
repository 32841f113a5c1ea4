#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// The whole content of a small file of the configuration.
/// \throws ConfigError where `where`: it does not exist, cannot be read, is a directory or exceeds
///         4 MiB. The text names the file, never its content.
K8S_SD_EXPORT std::string read_config_file(const std::string& path, const std::string& where);

/// Whether there is such a file that is not a directory.
bool is_file(const std::string& path) noexcept;

}  // namespace k8s_sd::inline v0::detail
