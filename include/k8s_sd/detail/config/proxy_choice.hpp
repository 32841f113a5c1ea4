#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The properties of a server relevant for the choice of a proxy.
struct ProxiedServer {
    bool tls = false;
    std::string host;  ///< lower case; IPv6 without brackets
    std::string port;
};

/// The value of an environment variable; null if it is not set.
using Variables = std::function<const char*(const char* name)>;

/// Whether a NO_PROXY list contains the server, or the server is the machine itself. The rules of
/// Go's httpproxy package, used by kubectl, Prometheus and vmagent.
bool is_reached_directly(std::string_view no_proxy, const ProxiedServer&);

/// The resolved proxy: `url` if the server is reached through a proxy, and `connect_headers`.
/// \param where  the field of the configuration, for the error
/// \throws ConfigError for an invalid proxy in the environment; it names the variable
ProxyConfig choose_proxy(ProxyConfig, const ProxiedServer&, const Variables&,
                         const std::string& where);

}  // namespace k8s_sd::inline v0::detail
