#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"

#include <initializer_list>
#include <string>

/// Checks of server options by part: a token service has the same parts of its own. All throw
/// ConfigError with a place that begins with `where`, the field of the part.
namespace k8s_sd::inline v0::detail {

/// An option: its field and whether it is set.
struct GivenOption {
    std::string field;
    bool set;
};
void check_at_most_one(std::initializer_list<GivenOption>);

K8S_SD_EXPORT void check_auth(const std::string& where, const AuthConfig&);
K8S_SD_EXPORT void check_tls(const std::string& where, const TlsConfig&);
K8S_SD_EXPORT void check_proxy(const std::string& where, const ProxyConfig&);
void check_impersonation(const std::string& where, const ImpersonationConfig&);
/// \param where  the field of the list
void check_headers(const std::string& where, const std::vector<HttpHeader>&);

}  // namespace k8s_sd::inline v0::detail
