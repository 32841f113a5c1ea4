#pragma once

/// Includes all of relabelling, scrape targets and scrape configurations.
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/relabel/relabeler.hpp"
#include "k8s_sd/scrape/duration_text.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/scrape_labels.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/sharding.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/scrape/target_filter.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
