#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/environment.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// \param proxy  `url` and `connect_headers` of it count: resolve() decided about the rest
/// \param trust  of the server that the proxy leads to
/// \throws ConfigError for a URL that is none of a proxy
std::optional<ProxyTarget> proxy_target(const ProxyConfig& proxy, const TlsConfig& trust);

bool has_credentials(const ProxyTarget&) noexcept;
/// What follows "Basic ": RFC 7617.
CleansedBytes basic_credentials(const ProxyTarget&);

/// For messages: "http://proxy:3128". Nothing in it is secret.
std::string to_string(const ProxyTarget&);

/// What of a proxy must reach no text.
std::vector<CleansedBytes> secrets_of(const ProxyTarget&);

/// A copy that leaves no password behind in memory.
std::shared_ptr<const ProxyTarget> cleansed_copy(const ProxyTarget&);

/// Overwrites the password and the headers.
void cleanse_secrets(ProxyTarget&) noexcept;

}  // namespace k8s_sd::inline v0::detail
