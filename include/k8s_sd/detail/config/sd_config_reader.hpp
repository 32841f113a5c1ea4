#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <array>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The HTTP client keys of Prometheus and vmagent: credentials, TLS, proxy, headers. Both dialects
/// accept the spellings of both programs.
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

/// Reads all but the last two of these keys of `entry` into the fields below `where`.
/// \throws ConfigError naming file, line and key
K8S_SD_EXPORT void read_http_client(const YamlValue& entry, LabelDialect, const std::string& where,
                                    ApiServerConfig&, FieldPlaces&);

/// Reports vmagent's keys for proxy credentials as unsupported, not as unknown.
/// \throws ConfigError naming file, line and key
K8S_SD_EXPORT void refuse_proxy_credentials(const YamlValue& entry);

/// One validated entry of `kubernetes_sd_configs`, see parse_sd_config(). Unusable if there are
/// mistakes.
K8S_SD_EXPORT DiscoveryConfig read_sd_config(const YamlValue& entry, LabelDialect,
                                             const std::string& file_name, Mistakes&);

}  // namespace k8s_sd::inline v0::detail
