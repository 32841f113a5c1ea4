#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"

#include <memory>
#include <optional>

namespace k8s_sd::inline v0::detail {

inline std::shared_ptr<ConnectTarget> cleansed_target() {
    return {new ConnectTarget, [](ConnectTarget* target) {
                if (target->tls) cleanse(target->tls->key.data(), target->tls->key.size());
                if (target->proxy) cleanse_secrets(*target->proxy);
                std::default_delete<ConnectTarget>()(target);
            }};
}

/// The route to a server. An inline private key and the proxy's password are copied once; the copy
/// is wiped on destruction.
/// \throws ConfigError for an invalid proxy URL
inline HttpConnection::Target make_connect_target(const ServerUrl& url, const TlsConfig& tls,
                                                  const ProxyConfig& proxy) {
    const auto target = cleansed_target();
    target->host = url.host;
    target->port = url.port;
    if (url.tls) target->tls = tls;
    std::optional<ProxyTarget> way = proxy_target(proxy, tls);
    target->proxy = way;  // copied: moved-from short strings cannot be wiped
    if (way) cleanse_secrets(*way);
    return target;
}

/// The same with another client certificate.
inline HttpConnection::Target with_identity(const ConnectTarget& other,
                                            const ClientIdentity& identity) {
    const auto target = cleansed_target();
    *target = other;
    if (!target->tls) return target;
    TlsConfig& tls = *target->tls;
    cleanse(tls.key.data(), tls.key.size());
    tls.cert = view(identity.certificate);
    tls.key = view(identity.key);
    tls.cert_file.clear();
    tls.key_file.clear();
    return target;
}

}  // namespace k8s_sd::inline v0::detail
