#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/role.hpp"

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Rules shared by several readers of configurations.
namespace k8s_sd::inline v0::detail {

/// Whether a credential or name is valid in a header or a handshake: no control characters.
K8S_SD_EXPORT bool is_header_text(std::string_view) noexcept;

/// Whether the text is a valid header name: a token of RFC 9110 5.6.2.
K8S_SD_EXPORT bool is_header_name(std::string_view) noexcept;

/// \throws ConfigError for a version of a dialect without versions, or for no enumerator
K8S_SD_EXPORT void check_version(LabelDialect, PrometheusVersion);

/// \throws ConfigError if the text is not a valid namespace name, or is empty
void check_namespace_name(const std::string& where, std::string_view name);

/// \throws ConfigError if the text is not a valid name for objects of the resource
void check_object_name(const std::string& where, std::string_view name, std::string_view resource);

/// The first option valid only for a server given by URL, or null; with other servers it would be
/// ignored. Headers, impersonation and a proxy are not among them: they also apply to a kubeconfig.
const char* first_server_option(const ApiServerConfig&);

/// The roles allowed in the selectors of a configuration with this role. Prometheus 3.5 refuses the
/// node selector of role pod; newer versions accept it.
std::vector<Role> selector_roles(Role);

/// Whether the dialect's program has the role.
bool has_role(LabelDialect, Role);
/// Why a dialect refuses a role of Gateway API.
std::string missing_role(Role);

/// The configured namespaces, sorted and unique; empty: all.
/// \param own  returns the name of the own namespace; called only if it is configured
std::vector<std::string> configured_namespaces(const DiscoveryConfig&,
                                               const std::function<std::string()>& own);

/// An option: its field and whether it is set.
struct GivenOption {
    std::string field;
    bool set;
};
void check_at_most_one(std::initializer_list<GivenOption>);

K8S_SD_EXPORT void check_auth(const std::string& where, const AuthConfig&);
K8S_SD_EXPORT void check_tls(const std::string& where, const TlsConfig&);
/// Refuses versions without one that the library speaks. It speaks neither TLS 1.0 nor 1.1.
void check_tls_versions(const std::string& where, const TlsConfig&);
/// The same for the token service, if there is one.
void check_tls_versions(const std::string& where, const AuthConfig&);
K8S_SD_EXPORT void check_proxy(const std::string& where, const ProxyConfig&);
void check_impersonation(const std::string& where, const ImpersonationConfig&);
/// \param where  the field of the list
void check_headers(const std::string& where, const std::vector<HttpHeader>&);

}  // namespace k8s_sd::inline v0::detail
