#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/complete_server.hpp"
#include "k8s_sd/detail/config/list_url.hpp"
#include "k8s_sd/error.hpp"

#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

UrlWithPath parse_list_url(const std::string& url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos || url.find_first_of("/?#") < scheme) {
        throw ConfigError("url", "must begin with http:// or https://");
    }
    return parse_url_with_path(url);
}

std::optional<std::string> redirected_path(const ServerUrl& server, std::string_view location) {
    const bool is_path = location.starts_with('/') && !location.starts_with("//");
    try {
        UrlWithPath url = parse_list_url(is_path ? to_string(server) + std::string(location)
                                                 : std::string(location));
        if (to_string(url.server) != to_string(server)) return std::nullopt;
        return std::move(url.path);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

ApiServerConfig server_of(const HttpSdConfig& config) {
    ApiServerConfig server;
    server.url = to_string(parse_list_url(config.url).server);
    server.auth = config.auth;
    server.headers = config.headers;
    server.tls = config.tls;
    server.proxy = config.proxy;
    return server;
}

HttpSdConfig resolve_http_sd(const HttpSdConfig& config) {
    validate(config);
    const ApiServerConfig own = server_of(config);
    const EnvironmentProxies when = rules_of(config.dialect).uses_proxies_of_environment
                                        ? EnvironmentProxies::by_default
                                        : EnvironmentProxies::if_asked_for;
    HttpSdConfig resolved = config;
    try {
        ApiServerConfig server = complete_server(own, own, when, "url");
        resolved.auth = std::move(server.auth);
        resolved.proxy = std::move(server.proxy);
    } catch (const ConfigError& e) {
        std::string_view where = e.where();
        constexpr std::string_view prefix = "api_server.";
        if (where.starts_with(prefix)) where.remove_prefix(prefix.size());
        throw ConfigError(std::string(where), e.problem());
    }
    return resolved;
}

}  // namespace k8s_sd::inline v0::detail
