#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The documents by which clients such as kubectl learn what a server has: /version, /api, /apis,
/// /api/v1 and /apis/<group>/<version>. nullopt for other paths.
std::optional<std::string> discovery_document(std::string_view path);

}  // namespace k8s_sd::inline v0::sim
