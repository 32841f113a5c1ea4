#pragma once

/// \file
/// Everything that most hosts need.

/// \namespace k8s_sd
/// Kubernetes service discovery. Begin with Discoverer, DiscoveryConfig and TargetGroupDiff.

/// \namespace k8s_sd::sim
/// A simulated API server for tests of hosts. Begin with ApiServer.

#include "k8s_sd/api_server_lookup.hpp"
#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/cache/reference_sets.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/target_groups.hpp"
#include "k8s_sd/version.hpp"
