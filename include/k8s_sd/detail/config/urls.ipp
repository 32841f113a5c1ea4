#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/complete_server.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/ip/address_v6.hpp>
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

[[noreturn]] void fail(const std::string& problem) { throw ConfigError("url", problem); }

bool scheme_is_tls(std::string_view scheme) {
    const std::string name = lower_case(scheme);
    if (name != "http" && name != "https") fail("the scheme must be http or https");
    return name == "https";
}

/// Refuses "https//host", "https:/host" and "https:host": each would be read as a host name, and
/// that host would receive the credentials over plain HTTP.
void check_scheme_is_whole(std::string_view url) {
    for (const std::string scheme : {"https", "http"}) {
        const std::string_view start = url.substr(0, scheme.size());
        const std::string_view rest = url.substr(start.size());
        if (lower_case(start) != scheme || rest.starts_with("://")) continue;
        if (rest.starts_with(':') || rest.starts_with("//")) {
            fail("the scheme is not complete (did you mean " + scheme + "://?)");
        }
    }
}

void check_host(std::string_view host) {
    const auto allowed = [](char c) {
        return is_alphanumeric(c) || c == '-' || c == '.' || c == '_';
    };
    if (host.empty()) fail("has no host");
    if (!std::all_of(host.begin(), host.end(), allowed)) {
        fail("the host is neither a name nor an IP address (IPv6 goes in brackets)");
    }
}

void check_ipv6(const std::string& host) {
    if (host.find('%') != std::string::npos) {
        fail("the IPv6 address has a zone, which means something else on each machine; use one "
             "without \"%\"");
    }
    error_code error;
    boost::asio::ip::make_address_v6(host, error);
    if (error) fail("the text in brackets is not an IPv6 address");
}

void check_port(std::string_view port) {
    const bool digits =
        !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), is_digit);
    const int number = digits ? std::stoi(std::string(port)) : 0;
    if (number < 1 || number > 65535) fail("the port must be a number from 1 to 65535");
}

std::string_view default_port(const ServerUrl& url) { return url.tls ? "443" : "80"; }

/// Removes "." and ".." from a path with a leading slash.
std::string without_dots(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        path.remove_prefix(1);  // the slash
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(part.size());
        const bool up = part == "..", here = part == ".";
        if (up && !parts.empty()) parts.pop_back();
        if (!up && !here) parts.push_back(part);
        if ((up || here) && path.empty()) parts.emplace_back();
    }
    std::string result;
    for (const std::string_view part : parts) (result += '/') += part;
    return result;
}

/// Resolves a reference as RFC 3986 says in section 5.2.2.
/// \param path  path and query of the base
std::string absolute_url(const ServerUrl& server, std::string_view path,
                         std::string_view reference) {
    const std::size_t end = std::min(reference.find_first_of("/?#"), reference.size());
    if (reference.substr(0, end).find(':') != std::string_view::npos) return std::string(reference);
    const std::string text(reference);
    if (text.starts_with("//")) return (server.tls ? "https:" : "http:") + text;
    const std::string base = to_string(server);
    if (text.starts_with('/')) return base + text;
    if (text.starts_with('#')) return base + std::string(path);
    path = path.substr(0, path.find('?'));
    if (text.starts_with('?')) return base + std::string(path) + text;
    const std::string folder(path.substr(0, path.rfind('/') + 1));
    const std::size_t query = std::min(text.find_first_of("?#"), text.size());
    return base + without_dots(folder + text.substr(0, query)) + text.substr(query);
}

}  // namespace

void check_url_characters(std::string_view url) {
    const auto visible = [](char c) { return c > 0x20 && c < 0x7f; };
    if (!std::all_of(url.begin(), url.end(), visible)) {
        fail("contains a space, a control character or a character outside ASCII");
    }
    if (url.find_first_of("?#") != std::string_view::npos) {
        fail("must not contain a query or a fragment");
    }
}

HostAndPort parse_host_and_port(std::string_view text) {
    HostAndPort result;
    std::string_view rest;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos)
            fail("the closing bracket of the IPv6 address is missing");
        result.host = lower_case(text.substr(1, end - 1));
        check_ipv6(result.host);
        rest = text.substr(end + 1);
    } else {
        const std::size_t colon = std::min(text.find(':'), text.size());
        result.host = lower_case(text.substr(0, colon));
        check_host(result.host);
        rest = text.substr(colon);
    }
    if (rest.empty()) return result;
    if (!rest.starts_with(':')) fail("after the IPv6 address only a port or a path may follow");
    check_port(rest.substr(1));
    // "0443" and "443" are the same port.
    result.port = std::to_string(std::stoi(std::string(rest.substr(1))));
    return result;
}

ServerUrl parse_server_url(std::string_view url, bool tls_without_scheme) {
    check_url_characters(url);
    check_scheme_is_whole(url);
    ServerUrl result;
    result.tls = tls_without_scheme;
    if (const std::size_t end = url.find("://"); end != std::string_view::npos) {
        result.tls = scheme_is_tls(url.substr(0, end));
        url.remove_prefix(end + 3);
    }
    const std::size_t slash = std::min(url.find('/'), url.size());
    const std::string_view host_and_port = url.substr(0, slash);
    if (host_and_port.find('@') != std::string_view::npos) {
        fail("must not contain a user or password; use the options for credentials");
    }
    auto [host, port] = parse_host_and_port(host_and_port);
    result.host = std::move(host);
    result.port = port.empty() ? std::string(default_port(result)) : std::move(port);
    result.prefix = url.substr(slash);
    while (result.prefix.ends_with('/')) result.prefix.pop_back();
    return result;
}

UrlWithPath parse_url_with_path(std::string_view url) {
    const std::size_t scheme = url.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
    UrlWithPath result{parse_server_url(url.substr(0, end), false), {}};
    std::string_view path = url.substr(end);
    path = path.substr(0, path.find('#'));
    if (!path.starts_with('/')) result.path = "/";
    for (const char c : path) {
        // Like browsers, escape characters not allowed in a request.
        if (c > 0x20 && c < 0x7f) {
            result.path += c;
        } else {
            append_escaped(result.path, std::string_view(&c, 1), {});
        }
    }
    return result;
}

std::string authority(const ServerUrl& url) {
    return url.port == default_port(url) ? in_brackets(url.host)
                                         : join_host_port(url.host, url.port);
}

std::string to_string(const ServerUrl& url) {
    return (url.tls ? "https://" : "http://") + authority(url) + url.prefix;
}

UrlWithPath parse_list_url(const std::string& url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos || url.find_first_of("/?#") < scheme) {
        throw ConfigError("url", "must begin with http:// or https://");
    }
    return parse_url_with_path(url);
}

std::optional<std::string> redirected_path(const ServerUrl& server, std::string_view path,
                                           std::string_view location) {
    if (location.empty()) return std::nullopt;
    try {
        UrlWithPath url = parse_list_url(absolute_url(server, path, location));
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
    server.http_version = HttpVersion::http1;
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
