#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/secrets.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The parts of a proxy's URL.
struct ProxyUrl {
    enum class Scheme : std::uint8_t { http, https, socks5 };
    Scheme scheme = Scheme::http;
    std::string host;        ///< lower case; IPv6 without brackets
    std::string port;        ///< never empty: by default 80, 443 or 1080
    std::string username;    ///< percent-decoded
    CleansedBytes password;  ///< percent-decoded; empty together with the name: no credentials
};

/// Accepts "scheme://[user[:password]@]host[:port][/]", IPv6 in brackets; the scheme is http,
/// https, socks5 or socks5h.
/// \param where  the field, for the error
/// \throws ConfigError; its text never repeats the URL, because it may contain a password
ProxyUrl parse_proxy_url(std::string_view url, const std::string& where);

/// Removes user and password from an empty URL or one accepted by parse_proxy_url().
std::string without_user_info(std::string_view proxy_url);

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
