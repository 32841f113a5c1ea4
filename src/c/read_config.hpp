#pragma once

#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/objects/watcher_config.hpp"
#include "k8s_sd_c.h"

namespace k8s_sd_c {

// From the structs of the interface to the configurations of the library.

/// \throws Failure, ConfigError
k8s_sd::LabelDialect read_dialect(const k8s_sd_config&);
/// \throws Failure, ConfigError
k8s_sd::PrometheusVersion read_version(const k8s_sd_config&);
/// \param find_server  see K8S_SD_FIND_SERVER \throws Failure, ConfigError
k8s_sd::DiscoveryConfig read_discovery(const k8s_sd_config&, bool find_server);
/// \throws Failure, ConfigError
k8s_sd::WatcherConfig read_watcher(const k8s_sd_query&, bool find_server);
/// \throws Failure, ConfigError
k8s_sd::ObjectCacheConfig read_cache(const k8s_sd_query&, bool find_server);

}  // namespace k8s_sd_c
