#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/watcher_config.hpp"

#include <optional>

namespace k8s_sd::inline v0::detail {

/// The server and the namespaces of a watcher.
/// \throws ConfigError
WatchScope resolve_scope(const WatcherConfig& config, const InClusterFiles& files);

/// \param kind  any_other_kind: what WatcherConfig::resource says
/// \throws ConfigError for selectors that are none, for fields that the kind does not have, and for
/// a resource that cannot be one
void check_wanted_objects(Kind kind, const WatcherConfig& config);

/// The kind of a resource that needs no search; nothing: it has to be searched for.
std::optional<Kind> kind_of_resource(const ResourceName& name);

}  // namespace k8s_sd::inline v0::detail
