#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Discovery documents of an API server. The texts are untrusted.
namespace k8s_sd::inline v0::detail {

/// Whether an APIResourceList (GET /apis/<group>/<version>) contains the resource; nullopt: the
/// document is no APIResourceList.
std::optional<bool> lists_resource(std::string_view json, std::string_view plural);

/// A resource of an APIResourceList.
struct ListedResource {
    std::string plural;
    bool namespaced = true;
    bool watched = false;  ///< supports list and watch
};
/// The resource of that kind, and of the name `plural` unless empty; nullopt: not in the list.
std::optional<ListedResource> find_listed_resource(std::string_view json, std::string_view kind,
                                                   std::string_view plural);

/// Whether the document is of the kind, such as "APIGroup".
bool is_document_of(std::string_view json, std::string_view kind);

/// The version names of an APIGroup (GET /apis/<group>), the preferred one first. Names invalid in
/// a path are omitted.
std::vector<std::string> read_group_versions(std::string_view json);

/// The message of a Status or another error document; empty: neither.
std::string read_status_message(std::string_view json);

/// The version from GET /version, such as "v1.32.0"; empty: missing.
std::string read_server_version(std::string_view json);

}  // namespace k8s_sd::inline v0::detail
