#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/proxy.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

ProxyTarget::Protocol protocol_of(ProxyUrl::Scheme scheme) noexcept {
    switch (scheme) {
        case ProxyUrl::Scheme::http: break;
        case ProxyUrl::Scheme::https: return ProxyTarget::Protocol::https;
        case ProxyUrl::Scheme::socks5: return ProxyTarget::Protocol::socks5;
    }
    return ProxyTarget::Protocol::http;
}

/// Only the trust settings: a proxy must not receive the server's client identity.
TlsConfig trust_only(const TlsConfig& config) {
    TlsConfig trust;
    trust.ca = config.ca;
    trust.ca_file = config.ca_file;
    trust.insecure_skip_verify = config.insecure_skip_verify;
    return trust;
}

}  // namespace

std::optional<ProxyTarget> proxy_target(const ProxyConfig& proxy, const TlsConfig& trust) {
    std::optional<ProxyTarget> result;
    if (proxy.url.empty()) return result;
    ProxyUrl url = parse_proxy_url(proxy.url, "proxy.url");
    // Constructed in place: moved-from short strings cannot be wiped.
    ProxyTarget& target = result.emplace();
    target.protocol = protocol_of(url.scheme);
    target.host = std::move(url.host);
    target.port = std::move(url.port);
    target.username = std::move(url.username);
    target.password.assign(url.password.begin(), url.password.end());
    target.connect_headers = proxy.connect_headers;
    if (target.protocol == ProxyTarget::Protocol::https) target.tls = trust_only(trust);
    return result;
}

bool has_credentials(const ProxyTarget& proxy) noexcept {
    return !proxy.username.empty() || !proxy.password.empty();
}

CleansedBytes basic_credentials(const ProxyTarget& proxy) {
    CleansedBytes plain;
    plain.reserve(proxy.username.size() + 1 + proxy.password.size());
    append(plain, proxy.username);
    append(plain, ":");
    append(plain, proxy.password);
    return encode_base64<CleansedBytes>(view(plain));
}

std::string to_string(const ProxyTarget& proxy) {
    std::string_view scheme = "http://";
    if (proxy.protocol == ProxyTarget::Protocol::https) scheme = "https://";
    if (proxy.protocol == ProxyTarget::Protocol::socks5) scheme = "socks5://";
    return std::string(scheme) + join_host_port(proxy.host, proxy.port);
}

std::vector<CleansedBytes> secrets_of(const ProxyTarget& proxy) {
    std::vector<CleansedBytes> secrets;
    const auto add = [&](std::string_view scheme, std::string_view credentials) {
        CleansedBytes authorization;
        append(authorization, scheme);
        append(authorization, credentials);
        for (CleansedBytes& secret : secrets_of(authorization)) {
            secrets.push_back(std::move(secret));
        }
    };
    if (has_credentials(proxy)) add("Basic ", view(basic_credentials(proxy)));
    for (const HttpHeader& header : proxy.connect_headers) {
        if (lower_case(header.name) != "user-agent") add("", header.value);
    }
    return secrets;
}

void cleanse_secrets(ProxyTarget& proxy) noexcept {
    cleanse(proxy.password.data(), proxy.password.size());
    for (HttpHeader& header : proxy.connect_headers) {
        cleanse(header.value.data(), header.value.size());
    }
}

std::shared_ptr<const ProxyTarget> cleansed_copy(const ProxyTarget& proxy) {
    return {new ProxyTarget(proxy), [](ProxyTarget* copy) {
                cleanse_secrets(*copy);
                std::default_delete<ProxyTarget>()(copy);
            }};
}

}  // namespace k8s_sd::inline v0::detail
