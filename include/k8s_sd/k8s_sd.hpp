#pragma once

/// \file
/// Includes all of discovery, watchers and the object cache. Relabelling and scraping are in
/// k8s_sd/scrape/scrape.hpp, the simulated API server is in k8s_sd/sim/.

/// \namespace k8s_sd
/// Kubernetes service discovery. Begin with Discoverer, DiscoveryConfig and TargetGroupDiff.

/// \namespace k8s_sd::sim
/// A simulated API server for tests of hosts. Begin with ApiServer.

#include "k8s_sd/access.hpp"
#include "k8s_sd/api_client.hpp"
#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/cache/reference_sets.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"
#include "k8s_sd/fleet/fleet_rules.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/fleet/group_share.hpp"
#include "k8s_sd/fleet/member_source.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/labels.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/objects/data_object.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "k8s_sd/objects/target_store.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/selector.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_filter.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_groups.hpp"
#include "k8s_sd/target_source.hpp"
#include "k8s_sd/tls_trust.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "k8s_sd/version.hpp"
#include "k8s_sd/warm_start.hpp"
