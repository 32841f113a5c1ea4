#pragma once

#include "k8s_sd/role.hpp"

#include <string_view>
#include <vector>

/// Rules that more than one reader of configurations needs.
namespace k8s_sd::inline v0::detail {

/// Whether a credential or name may stand in a header or a handshake: no control characters.
bool is_header_text(std::string_view) noexcept;

/// A DNS label, as Kubernetes demands of namespaces.
bool is_namespace_name(std::string_view) noexcept;

/// A DNS subdomain, as Kubernetes demands of the names of most objects.
bool is_object_name(std::string_view) noexcept;

/// The roles whose kinds a configuration of this role may filter. Prometheus 3.5 refuses the node
/// selector of role pod; newer ones take it.
std::vector<Role> selector_roles(Role);

}  // namespace k8s_sd::inline v0::detail
