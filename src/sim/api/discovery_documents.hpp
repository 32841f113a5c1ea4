#pragma once

#include "sim/store/resource_type.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// In which versions of its group a resource is served.
using ServedIn = std::function<std::vector<std::string>(const ResourceType&)>;

/// The documents by which clients learn what a server has: /version, /api, /apis, /api/v1,
/// /apis/<group> and /apis/<group>/<version>. nullopt for other paths.
/// \param types  of the server
std::optional<std::string> discovery_document(std::string_view path,
                                              const std::vector<const ResourceType*>& types,
                                              const ServedIn&);

}  // namespace k8s_sd::inline v0::sim
