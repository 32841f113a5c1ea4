#include "k8s_sd/detail/config/proxy.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

struct ProxyScheme {
    std::string_view name;
    ProxyUrl::Scheme scheme;
    std::string_view default_port;
};

constexpr ProxyScheme proxy_schemes[] = {
    {"http", ProxyUrl::Scheme::http, "80"},
    {"https", ProxyUrl::Scheme::https, "443"},
    {"socks5", ProxyUrl::Scheme::socks5, "1080"},
    {"socks5h", ProxyUrl::Scheme::socks5, "1080"},
};

const ProxyScheme& proxy_scheme_of(std::string_view url) {
    const std::string name = lower_case(url.substr(0, url.find("://")));
    for (const ProxyScheme& scheme : proxy_schemes) {
        if (scheme.name == name && name.size() < url.size()) return scheme;
    }
    throw ConfigError("url", "must begin with http://, https:// or socks5://");
}

/// Decodes the userinfo of a URL.
CleansedBytes percent_decoded(std::string_view text) {
    CleansedBytes result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            const unsigned high = i + 2 < text.size() ? hex_value(text[i + 1]) : 16;
            const unsigned low = i + 2 < text.size() ? hex_value(text[i + 2]) : 16;
            if (high > 15 || low > 15) {
                throw ConfigError("url", "% in the user or password must be written as %25");
            }
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        if (is_control(c)) {
            throw ConfigError("url", "the user or password contains a control character");
        }
        result.push_back(c);
    }
    return result;
}

void read_user_info(std::string_view text, ProxyUrl& url) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const CleansedBytes username = percent_decoded(text.substr(0, colon));
    url.username.assign(username.begin(), username.end());
    if (colon < text.size()) url.password = percent_decoded(text.substr(colon + 1));
    if (url.scheme != ProxyUrl::Scheme::socks5) {
        // RFC 7617: the first colon ends the name.
        if (url.username.find(':') == std::string::npos) return;
        throw ConfigError("url", "the name of the user must not contain a colon");
    }
    if (url.username.empty()) throw ConfigError("url", "SOCKS5 needs the name of a user");
    constexpr std::size_t max_size = 255;  // RFC 1929 has one byte for the length
    if (url.username.size() > max_size || url.password.size() > max_size) {
        throw ConfigError("url", "the user or password is longer than the 255 bytes of SOCKS5");
    }
}

ProxyUrl parse_proxy(std::string_view text) {
    check_url_characters(text);
    const ProxyScheme& scheme = proxy_scheme_of(text);
    ProxyUrl url;
    url.scheme = scheme.scheme;
    text.remove_prefix(scheme.name.size() + 3);
    const std::size_t slash = std::min(text.find('/'), text.size());
    if (text.size() - slash > 1) {
        throw ConfigError("url", "must not have a path: the name of a proxy is expected, not that "
                                 "of a file about proxies; / in a password is written as %2F");
    }
    text = text.substr(0, slash);
    if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
        read_user_info(text.substr(0, at), url);
        text.remove_prefix(at + 1);
    }
    auto [host, port] = parse_host_and_port(text);
    url.host = std::move(host);
    url.port = port.empty() ? std::string(scheme.default_port) : std::move(port);
    return url;
}

}  // namespace

ProxyUrl parse_proxy_url(std::string_view url, const std::string& where) {
    try {
        return parse_proxy(url);
    } catch (const ConfigError& error) {
        throw ConfigError(where, error.problem());
    }
}

std::string without_user_info(std::string_view proxy_url) {
    const std::size_t at = proxy_url.rfind('@');
    if (at == std::string_view::npos) return std::string(proxy_url);
    const std::size_t scheme_end = proxy_url.find("://") + 3;
    return std::string(proxy_url.substr(0, scheme_end)).append(proxy_url.substr(at + 1));
}

namespace {

using boost::asio::ip::address;

/// Converts an IPv4-mapped IPv6 address to its IPv4 address.
std::optional<address> address_of(const std::string& text) {
    error_code error;
    const address result = boost::asio::ip::make_address(text, error);
    if (error) return std::nullopt;
    if (!result.is_v6() || !result.to_v6().is_v4_mapped()) return result;
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, result.to_v6());
}

/// Matches an entry with a slash; nullopt if it is not a range.
std::optional<bool> range_has(const std::string& range, const std::optional<address>& host) {
    using boost::asio::ip::network_v4;
    using boost::asio::ip::network_v6;
    error_code error;
    const network_v4 v4 = boost::asio::ip::make_network_v4(range, error);
    if (!error) {
        if (!host || !host->is_v4()) return false;
        return network_v4(host->to_v4(), v4.prefix_length()).network() == v4.network();
    }
    const network_v6 v6 = boost::asio::ip::make_network_v6(range, error);
    if (error) return std::nullopt;
    if (!host || !host->is_v6()) return false;
    return network_v6(host->to_v6(), v6.prefix_length()).network() == v6.network();
}

struct NoProxyEntry {
    std::string host;
    std::string port;  ///< empty: any
};

/// "host", "host:port", "[v6]", "[v6]:port"; a bare IPv6 address has no port.
NoProxyEntry split_entry(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    const bool bracket = text.starts_with('[');
    const std::size_t end = bracket ? text.find(']') : std::string::npos;
    if (bracket && end != std::string::npos) {
        const bool port = text.compare(end + 1, 1, ":") == 0;
        return {text.substr(1, end - 1), port ? text.substr(end + 2) : std::string()};
    }
    if (colon == std::string::npos || text.find(':') != colon) return {text, {}};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

/// "domain": itself and its subdomains; ".domain" and "*.domain": only the subdomains.
bool domain_has(std::string domain, const std::string& host) {
    if (domain.starts_with("*.")) domain.erase(0, 1);
    if (!domain.starts_with('.')) {
        if (host == domain) return true;
        domain.insert(0, 1, '.');
    }
    return host.ends_with(domain);
}

bool entry_has(const std::string& entry, const ProxiedServer& server,
               const std::optional<address>& server_address) {
    if (entry == "*") return true;
    if (entry.find('/') != std::string::npos) {
        if (const auto has = range_has(entry, server_address)) return *has;
    }
    const NoProxyEntry part = split_entry(entry);
    if (part.host.empty() || (!part.port.empty() && part.port != server.port)) return false;
    if (const auto wanted = address_of(part.host)) return server_address == wanted;
    return domain_has(part.host, server.host);
}

/// The first non-empty variable.
struct Variable {
    std::string name;
    std::string value;
};
Variable first_of(const Variables& variables, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const char* const value = variables(name);
        if (value && *value) return {name, value};
    }
    return {};
}

/// In a CGI program HTTP_PROXY contains the client's header "Proxy", so it is untrusted.
bool is_cgi(const Variables& variables) {
    return !first_of(variables, {"REQUEST_METHOD"}).value.empty();
}

std::string proxy_of_environment(const ProxiedServer& server, const Variables& variables) {
    if (!server.tls && is_cgi(variables)) return {};
    Variable proxy = server.tls ? first_of(variables, {"HTTPS_PROXY", "https_proxy"})
                                : first_of(variables, {"HTTP_PROXY", "http_proxy"});
    if (proxy.value.empty()) return {};
    const std::string no_proxy = first_of(variables, {"NO_PROXY", "no_proxy"}).value;
    if (is_reached_directly(no_proxy, server)) return {};
    // The environment usually has "host:port" without a scheme.
    if (proxy.value.find("://") == std::string::npos) proxy.value.insert(0, "http://");
    parse_proxy_url(proxy.value, "environment variable " + proxy.name);
    return proxy.value;
}

}  // namespace

bool is_reached_directly(std::string_view no_proxy, const ProxiedServer& server) {
    ProxiedServer wanted = server;
    if (wanted.host.ends_with('.')) wanted.host.pop_back();
    if (wanted.host == "localhost") return true;
    const std::optional<address> number = address_of(wanted.host);
    if (number && number->is_loopback()) return true;
    while (!no_proxy.empty()) {
        const std::size_t comma = std::min(no_proxy.find(','), no_proxy.size());
        const std::string entry = lower_case(trim(no_proxy.substr(0, comma)));
        if (!entry.empty() && entry_has(entry, wanted, number)) return true;
        no_proxy.remove_prefix(std::min(comma + 1, no_proxy.size()));
    }
    return false;
}

ProxyConfig choose_proxy(ProxyConfig proxy, const ProxiedServer& server, const Variables& variables,
                         const std::string& where) {
    if (proxy.from_environment) {
        proxy.url = proxy_of_environment(server, variables);
    } else if (!proxy.url.empty()) {
        parse_proxy_url(proxy.url, where + ".url");
        // As in Go, a configured proxy without exceptions serves the machine itself, too: it may
        // be a tunnel with its end elsewhere.
        if (!proxy.no_proxy.empty() && is_reached_directly(proxy.no_proxy, server)) {
            proxy.url.clear();
        }
    }
    proxy.from_environment = false;
    proxy.no_proxy.clear();
    if (proxy.url.empty()) proxy.connect_headers.clear();
    return proxy;
}

}  // namespace k8s_sd::inline v0::detail
