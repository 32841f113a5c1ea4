#pragma once

/// Everything that most hosts need.
#include "k8s_sd/config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/object_cache.hpp"
#include "k8s_sd/object_owners.hpp"
#include "k8s_sd/scrape_config_reloader.hpp"
#include "k8s_sd/scrape_config_yaml.hpp"
#include "k8s_sd/server_discovery.hpp"
#include "k8s_sd/target_pool.hpp"
#include "k8s_sd/target_state.hpp"
#include "k8s_sd/version.hpp"
