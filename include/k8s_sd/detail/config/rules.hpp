#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/role.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Rules that more than one reader of configurations needs.
namespace k8s_sd::inline v0::detail {

/// Whether a credential or name may stand in a header or a handshake: no control characters.
K8S_SD_EXPORT bool is_header_text(std::string_view) noexcept;

/// Whether a header can have that name: a token of RFC 9110 5.6.2.
K8S_SD_EXPORT bool is_header_name(std::string_view) noexcept;

/// \throws ConfigError for a text that no namespace can have as its name, the empty one included
void check_namespace_name(const std::string& where, std::string_view name);

/// \throws ConfigError for a text that no object of a resource can have as its name
void check_object_name(const std::string& where, std::string_view name, std::string_view resource);

/// The first of the options that only a server given by URL has, or null: elsewhere they would not
/// count. Headers, impersonation and a proxy are added to whatever a kubeconfig says.
const char* first_server_option(const ApiServerConfig&);

/// The roles whose kinds a configuration of this role may filter. Prometheus 3.5 refuses the node
/// selector of role pod; newer ones take it.
std::vector<Role> selector_roles(Role);

/// The namespaces that a configuration names, sorted and unique; empty: all.
/// \param own  tells the name of the own namespace; called where it is one of them
std::vector<std::string> configured_namespaces(const DiscoveryConfig&,
                                               const std::function<std::string()>& own);

}  // namespace k8s_sd::inline v0::detail
