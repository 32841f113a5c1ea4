#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <string>
#include <string_view>

/// ExecCredential of client.authentication.k8s.io, the input and output of credential plugins.
/// Source: Kubernetes documentation, "client-go credential plugins".
namespace k8s_sd::inline v0::detail {

/// The cluster information for a plugin.
struct ExecCluster {
    std::string server;  ///< as written in the kubeconfig
    std::string tls_server_name;
    bool insecure_skip_tls_verify = false;
    std::string ca;  ///< PEM
    std::string proxy_url;
    bool disable_compression = false;
    std::string extension;  ///< JSON of the kubeconfig; empty: none
};

/// The value of KUBERNETES_EXEC_INFO.
/// \param cluster  null: omitted
std::string make_exec_info(const std::string& api_version, const ExecCluster* cluster);

/// Parses a plugin's output. The problem text repeats no possible secret.
IssuedCredentials read_exec_credential(std::string_view output, std::string_view api_version);

}  // namespace k8s_sd::inline v0::detail
