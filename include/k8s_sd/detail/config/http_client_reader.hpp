#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/field_places.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"

#include <array>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The keys of the block by which Prometheus and vmagent say how an HTTP client works: credentials,
/// TLS, proxy, headers. Both programs' spellings are taken in both dialects.
inline constexpr std::array<std::string_view, 14> http_client_keys{"authorization",
                                                                   "basic_auth",
                                                                   "bearer_token",
                                                                   "bearer_token_file",
                                                                   "oauth2",
                                                                   "tls_config",
                                                                   "proxy_url",
                                                                   "no_proxy",
                                                                   "proxy_from_environment",
                                                                   "proxy_connect_header",
                                                                   "http_headers",
                                                                   "headers",
                                                                   "follow_redirects",
                                                                   "enable_http2"};

/// Reads these keys of `entry`, but for the last two, into the fields below `where`.
/// \throws ConfigError naming file, line and key
K8S_SD_EXPORT void read_http_client(const YamlValue& entry, const std::string& where,
                                    ApiServerConfig&, FieldPlaces&);

/// Says of vmagent's keys for credentials at the proxy that they are no mistake of the file.
/// \throws ConfigError naming file, line and key
K8S_SD_EXPORT void refuse_proxy_credentials(const YamlValue& entry);

}  // namespace k8s_sd::inline v0::detail
