#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig_entries.hpp"

namespace k8s_sd::inline v0::detail {

/// The credential plugin of a user. A command with a slash is relative to the file's directory, as
/// in client-go.
/// \param cluster  may contain an extension for the plugin
ExecConfig read_exec(const KubeconfigEntry& user, const YamlValue& cluster);

}  // namespace k8s_sd::inline v0::detail
