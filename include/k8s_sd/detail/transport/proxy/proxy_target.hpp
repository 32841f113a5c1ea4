#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/environment.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// \param proxy  only `url` and `connect_headers` are used; resolve() has applied the rest
/// \param trust  TLS settings of the server
/// \throws ConfigError for an invalid proxy URL
std::optional<ProxyTarget> proxy_target(const ProxyConfig& proxy, const TlsConfig& trust);

bool has_credentials(const ProxyTarget&) noexcept;
/// The value after "Basic ": RFC 7617.
CleansedBytes basic_credentials(const ProxyTarget&);

/// For messages, such as "http://proxy:3128"; contains no secrets.
std::string to_string(const ProxyTarget&);

/// Secrets to redact from texts about the proxy.
std::vector<CleansedBytes> secrets_of(const ProxyTarget&);

/// A copy whose password is wiped on destruction.
std::shared_ptr<const ProxyTarget> cleansed_copy(const ProxyTarget&);

/// Overwrites the password and the headers.
void cleanse_secrets(ProxyTarget&) noexcept;

}  // namespace k8s_sd::inline v0::detail
