#pragma once

#include "sim/store/resource_type.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The served versions of a resource.
using ServedIn = std::function<std::vector<std::string>(const ResourceType&)>;

/// The discovery documents of a server: /version, /api, /apis, /api/v1, /apis/<group> and
/// /apis/<group>/<version>. nullopt for other paths.
/// \param types  types of the server
std::optional<std::string> discovery_document(std::string_view path,
                                              const std::vector<const ResourceType*>& types,
                                              const ServedIn&);

}  // namespace k8s_sd::inline v0::sim
