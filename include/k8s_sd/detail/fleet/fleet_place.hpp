#pragma once

#include "k8s_sd/error.hpp"
#include "k8s_sd/watcher_config.hpp"

namespace k8s_sd::inline v0::detail {

/// Members find each other in one namespace; if none is named, in that of the program's pod.
/// \throws ConfigError  more are named
inline void settle_in_one_namespace(WatcherConfig& where) {
    if (where.namespaces.empty()) where.own_namespace = true;
    if (where.namespaces.size() + (where.own_namespace ? 1 : 0) == 1) return;
    throw ConfigError(
        "namespaces",
        "a fleet is in one namespace: name it, or none for that of the program's pod");
}

}  // namespace k8s_sd::inline v0::detail
