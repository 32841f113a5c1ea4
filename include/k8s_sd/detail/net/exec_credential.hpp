#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/detail/net/credential_issuer.hpp"

#include <string>
#include <string_view>

/// The ExecCredential of client.authentication.k8s.io, which programs are given and print.
/// Source: Kubernetes documentation, "client-go credential plugins".
namespace k8s_sd::inline v0::detail {

/// What a program is told about the server.
struct ExecCluster {
    std::string server;  ///< as the kubeconfig writes it
    std::string tls_server_name;
    bool insecure_skip_tls_verify = false;
    std::string ca;  ///< PEM
    std::string proxy_url;
    bool disable_compression = false;
    std::string extension;  ///< JSON of the kubeconfig; empty: none
};

/// The value of KUBERNETES_EXEC_INFO.
/// \param cluster  null: the program is not told
std::string make_exec_info(const std::string& api_version, const ExecCluster* cluster);

/// Reads what a program has printed. The problem says what is wrong and repeats nothing of it that
/// may be secret.
IssuedCredentials read_exec_credential(std::string_view output, std::string_view api_version);

}  // namespace k8s_sd::inline v0::detail
