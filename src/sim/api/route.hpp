#pragma once

#include "sim/store/server_types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The parts of a path such as "/apis/apps/v1/namespaces/shop/replicasets/web-1".
struct Route {
    const ResourceType* type = nullptr;
    std::string version;  ///< version of the API group; the type may not be served in it
    std::string ns;       ///< empty: all
    std::string name;     ///< empty: the collection
};

/// nullopt if the path names no resource known to this server.
std::optional<Route> parse_route(std::string_view path, const ServerTypes& types);

}  // namespace k8s_sd::inline v0::sim
