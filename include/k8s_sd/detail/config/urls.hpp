#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/target_configs.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The parts of an API server's URL.
struct ServerUrl {
    bool tls = false;
    std::string host;    ///< lower case; IPv6 without brackets
    std::string port;    ///< never empty: by default 443 or 80
    std::string prefix;  ///< "" or "/path" without a trailing slash; request paths are appended
};

/// The authority of a URL.
struct HostAndPort {
    std::string host;  ///< lower case; IPv6 without brackets
    std::string port;  ///< decimal without leading zeros; empty if there is none
};

/// Splits "host[:port]" or "[v6][:port]".
/// \throws ConfigError where "url"; its text never repeats the URL
HostAndPort parse_host_and_port(std::string_view text);

/// \throws ConfigError where "url" for a character invalid in URLs of servers and proxies
void check_url_characters(std::string_view url);

/// Accepts "[http[s]://]host[:port][/prefix]", IPv6 in brackets.
/// \param tls_without_scheme  whether a URL without scheme means https
/// \throws ConfigError where "url"; its text never repeats the URL: it may contain a password
ServerUrl parse_server_url(std::string_view url, bool tls_without_scheme);

/// A URL with its path unchanged; a trailing slash and a query are valid here.
struct UrlWithPath {
    ServerUrl server;
    std::string path;  ///< with a leading slash and the query
};
/// \throws ConfigError like parse_server_url()
UrlWithPath parse_url_with_path(std::string_view url);

/// "host", "host:port" or "[v6]:port", without the scheme's default port: the Host header.
std::string authority(const ServerUrl&);

/// The canonical URL: equal servers give equal texts.
std::string to_string(const ServerUrl&);

/// The URL of a list of targets.
/// \throws ConfigError where "url"; its text never repeats the URL
UrlWithPath parse_list_url(const std::string& url);

/// The path and query of a redirect to the same server; nullopt for a redirect to another server.
/// \param path      path and query of the request
/// \param location  the header of the response: a URL, or a reference relative to that of the
///                  request (RFC 3986, section 5.2)
std::optional<std::string> redirected_path(const ServerUrl&, std::string_view path,
                                           std::string_view location);

/// Validates, and chooses the proxy from the environment.
/// \throws ConfigError
HttpSdConfig resolve_http_sd(const HttpSdConfig&);

/// The server of the list, with the options of an API server.
ApiServerConfig server_of(const HttpSdConfig&);

}  // namespace k8s_sd::inline v0::detail
