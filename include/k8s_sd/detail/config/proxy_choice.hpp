#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A server, as far as it matters for the choice of a proxy.
struct ProxiedServer {
    bool tls = false;
    std::string host;  ///< lower case; IPv6 without brackets
    std::string port;
};

/// The value of an environment variable; null if it is not set.
using Variables = std::function<const char*(const char* name)>;

/// Whether a list as of NO_PROXY has the server, or the server is the machine itself. Rules of Go's
/// httpproxy package, which kubectl, Prometheus and vmagent use.
bool is_reached_directly(std::string_view no_proxy, const ProxiedServer&);

/// What is left of the configuration once it is decided: `url` if the server is reached through a
/// proxy, and `connect_headers`.
/// \param where  the field of the configuration, for the error
/// \throws ConfigError for a proxy of the environment that cannot be one; it names the variable
ProxyConfig choose_proxy(ProxyConfig, const ProxiedServer&, const Variables&,
                         const std::string& where);

}  // namespace k8s_sd::inline v0::detail
