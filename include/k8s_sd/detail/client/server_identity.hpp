#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// Identifies a cluster by the address of its API server and its certificate authority.
struct ServerIdentity {
    ServerIdentity() = default;
    explicit ServerIdentity(const ApiServerConfig& server)
        : url(server.url), ca(server.tls.ca), ca_file(server.tls.ca_file) {}

    std::string url;
    std::string ca;
    std::string ca_file;
    bool operator==(const ServerIdentity&) const = default;
};

/// The server's settings without those read from a kubeconfig, because a client follows the changes
/// of the file: two configurations with the same files and context mean the same server, whenever
/// they were read.
inline ApiServerConfig configured_server(const ApiServerConfig& server) {
    if (server.kubeconfig.files.empty()) return server;
    ApiServerConfig configured;
    configured.headers = server.headers;
    configured.http_version = server.http_version;
    configured.kubeconfig = server.kubeconfig;
    return configured;
}

}  // namespace k8s_sd::inline v0::detail
