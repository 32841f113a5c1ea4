#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/objects/watcher_config.hpp"

#include <optional>

namespace k8s_sd::inline v0::detail {

/// The server and the namespaces of a watcher.
/// \throws ConfigError
WatchScope resolve_scope(const WatcherConfig& config, const InClusterFiles& files);

/// \param kind  any_other_kind: the kind in WatcherConfig::resource
/// \throws ConfigError for malformed selectors, for fields unknown in the kind, and for an invalid
/// resource
void check_wanted_objects(Kind kind, const WatcherConfig& config);

/// The kind of a resource, if no search is needed; nullopt: a search is needed.
std::optional<Kind> kind_of_resource(const ResourceName& name);

}  // namespace k8s_sd::inline v0::detail
