#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"

namespace k8s_sd::inline v0::detail {

/// The route to a server. An inline private key and the proxy's password are copied once; the copy
/// is wiped on destruction.
/// \throws ConfigError for an invalid proxy URL
HttpConnection::Target make_connect_target(const ServerUrl&, const TlsConfig&, const ProxyConfig&);

/// The same with another client certificate.
HttpConnection::Target with_identity(const ConnectTarget&, const ClientIdentity&);

}  // namespace k8s_sd::inline v0::detail
