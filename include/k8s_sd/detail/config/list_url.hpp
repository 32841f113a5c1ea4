#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/target_configs.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The URL of a list of targets.
/// \throws ConfigError where "url"; its text never repeats the URL
UrlWithPath parse_list_url(const std::string& url);

/// The path and query of a redirect to the same server; nullopt for a redirect to another server.
/// \param location  the header of the response: a URL, or a path with a leading slash
std::optional<std::string> redirected_path(const ServerUrl&, std::string_view location);

/// Validates, and chooses the proxy from the environment.
/// \throws ConfigError
HttpSdConfig resolve_http_sd(const HttpSdConfig&);

/// The server of the list, with the options of an API server.
ApiServerConfig server_of(const HttpSdConfig&);

}  // namespace k8s_sd::inline v0::detail
