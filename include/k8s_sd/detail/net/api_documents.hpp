#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a server tells about itself. The texts come from the server and are not to be trusted.
namespace k8s_sd::inline v0::detail {

/// The versions in an APIGroup, the answer to GET /apis/<group>. nullopt: it is none.
std::optional<std::vector<std::string>> read_group_versions(std::string_view json);

/// "v1.32.0", of the answer to GET /version; empty: it does not say.
std::string read_server_version(std::string_view json);

}  // namespace k8s_sd::inline v0::detail
