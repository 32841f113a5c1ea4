#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <string>

namespace k8s_sd::inline v0::detail {

/// Tells one cluster from another: where the API server is, and which authority certifies it.
struct ServerIdentity {
    ServerIdentity() = default;
    explicit ServerIdentity(const ApiServerConfig& server)
        : url(server.url), ca(server.tls.ca), ca_file(server.tls.ca_file) {}

    std::string url;
    std::string ca;
    std::string ca_file;
    bool operator==(const ServerIdentity&) const = default;
};

/// What the configuration itself says of a server. What a kubeconfig has said is left out, because
/// who uses the server follows the file: two configurations that name the same context of the same
/// files mean the same server, whenever those were read.
inline ApiServerConfig configured_server(const ApiServerConfig& server) {
    if (server.kubeconfig.files.empty()) return server;
    ApiServerConfig configured;
    configured.headers = server.headers;
    configured.kubeconfig = server.kubeconfig;
    return configured;
}

}  // namespace k8s_sd::inline v0::detail
