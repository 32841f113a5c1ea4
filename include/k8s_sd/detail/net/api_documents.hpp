#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a server tells about itself. The texts come from the server and are not to be trusted.
namespace k8s_sd::inline v0::detail {

/// Whether an APIResourceList, the answer to GET /apis/<group>/<version>, has the resource.
/// nullopt: it is none.
std::optional<bool> lists_resource(std::string_view json, std::string_view plural);

/// A resource of an APIResourceList.
struct ListedResource {
    std::string plural;
    bool namespaced = true;
    bool watched = false;  ///< it can be listed and watched
};
/// The resource of that kind, and of that name if one is given. nullopt: it is not in the list.
std::optional<ListedResource> find_listed_resource(std::string_view json, std::string_view kind,
                                                   std::string_view plural);

/// Whether that is a document of the kind, such as "APIGroup".
bool is_document_of(std::string_view json, std::string_view kind);

/// The names of the versions of an APIGroup, the answer to GET /apis/<group>, the preferred one
/// first. Those that cannot stand in a path are left out.
std::vector<std::string> read_group_versions(std::string_view json);

/// The message of a Status, or of an error that is none; empty: it is neither.
std::string read_status_message(std::string_view json);

/// "v1.32.0", of the answer to GET /version; empty: it does not say.
std::string read_server_version(std::string_view json);

}  // namespace k8s_sd::inline v0::detail
