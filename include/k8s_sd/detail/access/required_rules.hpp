#pragma once

#include "k8s_sd/access.hpp"
#include "k8s_sd/config.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A kind and the permission to read it.
using KindAccess = std::pair<AccessRule, Kind>;

/// Rules to list and watch kinds. Sorted, unique.
std::vector<KindAccess> required_rules(const std::vector<Kind>& kinds,
                                       const std::vector<std::string>& namespaces,
                                       std::size_t cluster_wide_from);

/// See required_access(). Sorted, unique.
std::vector<KindAccess> required_rules(Role role, const AttachMetadata& attach,
                                       const std::vector<std::string>& namespaces,
                                       std::size_t cluster_wide_from);

}  // namespace k8s_sd::inline v0::detail
