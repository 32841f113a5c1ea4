#include "k8s_sd/detail/config/complete_server.hpp"
#include "k8s_sd/detail/config/proxy.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/error.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::string canonical_url(const ApiServerConfig& server, const std::string& where) {
    try {
        return to_string(parse_server_url(server.url, server.tls != TlsConfig{}));
    } catch (const ConfigError& e) {
        throw ConfigError(where, e.problem());
    }
}

/// Adds the options valid for any server, however it was found.
void add_own_options(ApiServerConfig& found, const ApiServerConfig& own) {
    found.headers = own.headers;
    if (own.impersonate != ImpersonationConfig{}) found.impersonate = own.impersonate;
    if (own.proxy != ProxyConfig{}) found.proxy = own.proxy;
    found.http_version = own.http_version;
}

/// Like client-go: an operator can turn HTTP/2 off, whatever the configuration says.
void follow_environment(HttpVersion& version) {
    const char* const disabled = std::getenv("DISABLE_HTTP2");
    if (disabled && *disabled) version = HttpVersion::http1;
}

ProxiedServer proxied(const ServerUrl& url) { return {url.tls, url.host, url.port}; }

/// Strips the query and fragment of a token service's URL: they do not matter for its proxy.
ProxiedServer proxied_token_service(const std::string& token_url) {
    try {
        const std::string_view url = token_url;
        return proxied(parse_server_url(url.substr(0, url.find_first_of("?#")), false));
    } catch (const ConfigError& e) {
        throw ConfigError("api_server.auth.oauth2.token_url", e.problem());
    }
}

/// Chooses the proxies.
void resolve_proxies(ApiServerConfig& server) {
    const auto variables = [](const char* name) -> const char* { return std::getenv(name); };
    server.proxy =
        choose_proxy(std::move(server.proxy), proxied(parse_server_url(server.url, false)),
                     variables, "api_server.proxy");
    if (!server.auth.oauth2) return;
    ProxyConfig& proxy = server.auth.oauth2->proxy;
    if (proxy == ProxyConfig{}) return;
    proxy = choose_proxy(std::move(proxy), proxied_token_service(server.auth.oauth2->token_url),
                         variables, "api_server.auth.oauth2.proxy");
}

}  // namespace

ApiServerConfig complete_server(ApiServerConfig found, const ApiServerConfig& own,
                                EnvironmentProxies when, const std::string& where) {
    add_own_options(found, own);
    found.url = canonical_url(found, where);
    bool& from_environment = found.proxy.from_environment;
    if (when == EnvironmentProxies::never) from_environment = false;
    if (when == EnvironmentProxies::by_default) from_environment |= found.proxy.url.empty();
    resolve_proxies(found);
    follow_environment(found.http_version);
    return found;
}

}  // namespace k8s_sd::inline v0::detail
