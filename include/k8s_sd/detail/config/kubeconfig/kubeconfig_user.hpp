#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig_entries.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// Credentials, client certificate and impersonation.
/// \param cluster  may contain an extension for a credential plugin
void read_user(const KubeconfigEntry& user, const YamlValue& cluster, ApiServerConfig&);

/// "<key>-data" wins over the file named by "<key>".
void read_pem(const KubeconfigEntry&, const std::string& key, std::string& text, std::string& file);

/// A text for a header or a handshake.
std::string read_line(const YamlValue&);

}  // namespace k8s_sd::inline v0::detail
