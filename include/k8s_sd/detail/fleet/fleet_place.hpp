#pragma once

#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/objects/watcher_config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The members of a fleet share one namespace; by default that of the program's pod.
/// \throws ConfigError  several namespaces are configured
inline void settle_in_one_namespace(WatcherConfig& where) {
    if (where.namespaces.empty()) where.own_namespace = true;
    if (where.namespaces.size() + (where.own_namespace ? 1 : 0) == 1) return;
    throw ConfigError(
        "namespaces",
        "a fleet is in one namespace: name it, or name none for that of the program's pod");
}

/// See MemberSource::identity().
/// \param source  its type
/// \param fleet   its name there
inline std::string fleet_identity(std::string_view source, std::string_view fleet,
                                  const ServerIdentity& server,
                                  const std::vector<std::string>& namespaces) {
    std::string text;
    for (const std::string_view part :
         {source, fleet, std::string_view(server.url), std::string_view(server.ca),
          std::string_view(server.ca_file)}) {
        pack_value(text, part);
    }
    for (const std::string& ns : namespaces) pack_value(text, ns);
    return text;
}

}  // namespace k8s_sd::inline v0::detail
