#pragma once

#include <optional>
#include <string>
#include <string_view>

/// What a server tells about itself. The texts come from the server and are not to be trusted.
namespace k8s_sd::inline v0::detail {

/// Whether an APIResourceList, the answer to GET /apis/<group>/<version>, has the resource.
/// nullopt: it is none.
std::optional<bool> lists_resource(std::string_view json, std::string_view plural);

/// "v1.32.0", of the answer to GET /version; empty: it does not say.
std::string read_server_version(std::string_view json);

}  // namespace k8s_sd::inline v0::detail
