#include "k8s_sd/detail/config/proxy_url.hpp"
#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
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
    constexpr std::size_t longest = 255;  // RFC 1929 has one byte for the length
    if (url.username.size() > longest || url.password.size() > longest) {
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

}  // namespace k8s_sd::inline v0::detail
