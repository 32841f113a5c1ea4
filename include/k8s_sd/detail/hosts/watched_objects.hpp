#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/watcher_config.hpp"

namespace k8s_sd::inline v0::detail {

/// The server and the namespaces of a watcher.
/// \throws ConfigError
WatchScope resolve_scope(const WatcherConfig& config, const InClusterFiles& files);

/// \throws ConfigError for selectors that are none, and for fields that the kind does not have
void check_wanted_objects(Kind kind, const WatcherConfig& config);

}  // namespace k8s_sd::inline v0::detail
