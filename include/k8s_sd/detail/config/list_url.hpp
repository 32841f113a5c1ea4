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

/// Where a redirect leads, if that is on the same server: the path with the query.
/// \param location  of the answer: a URL, or a path that begins with a slash
std::optional<std::string> redirected_path(const ServerUrl&, std::string_view location);

/// Validates, and decides about the proxies of the environment.
/// \throws ConfigError
HttpSdConfig resolve_http_sd(const HttpSdConfig&);

/// Its server, as a server of other requests.
ApiServerConfig server_of(const HttpSdConfig&);

}  // namespace k8s_sd::inline v0::detail
