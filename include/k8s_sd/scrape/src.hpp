#pragma once

// The function bodies of relabelling and scraping, for hosts without a linked k8s_sd library:
// include this file after k8s_sd/src.hpp in the same source file. Needs RE2 and xxHash as well.

#include "k8s_sd/src.hpp"

// relabel
#include "k8s_sd/detail/relabel/case_map.ipp"
#include "k8s_sd/detail/relabel/go_regex.ipp"
#include "k8s_sd/detail/relabel/label_name.ipp"
#include "k8s_sd/detail/relabel/md5.ipp"
#include "k8s_sd/detail/relabel/mutable_labels.ipp"
#include "k8s_sd/detail/relabel/pattern.ipp"
#include "k8s_sd/detail/relabel/relabel_budget.ipp"
#include "k8s_sd/detail/relabel/relabel_explain.ipp"
#include "k8s_sd/detail/relabel/relabel_rule.ipp"
#include "k8s_sd/detail/relabel/relabel_rule_reader.ipp"
#include "k8s_sd/detail/relabel/relabel_validate.ipp"
#include "k8s_sd/detail/relabel/relabeler.ipp"
#include "k8s_sd/detail/relabel/replacement.ipp"
#include "k8s_sd/detail/relabel/series_selector.ipp"
#include "k8s_sd/detail/relabel/xxh64.ipp"

// scrape
#include "k8s_sd/detail/scrape/built_group.ipp"
#include "k8s_sd/detail/scrape/duration_text.ipp"
#include "k8s_sd/detail/scrape/equal_targets.ipp"
#include "k8s_sd/detail/scrape/go_url.ipp"
#include "k8s_sd/detail/scrape/handed_keys.ipp"
#include "k8s_sd/detail/scrape/prepared_job.ipp"
#include "k8s_sd/detail/scrape/scrape_config.ipp"
#include "k8s_sd/detail/scrape/scrape_config_reloader.ipp"
#include "k8s_sd/detail/scrape/scrape_config_yaml.ipp"
#include "k8s_sd/detail/scrape/scrape_target.ipp"
#include "k8s_sd/detail/scrape/sharding.ipp"
#include "k8s_sd/detail/scrape/target_builder.ipp"
#include "k8s_sd/detail/scrape/target_config_reader.ipp"
#include "k8s_sd/detail/scrape/target_packer.ipp"
#include "k8s_sd/detail/scrape/target_pool.ipp"
#include "k8s_sd/detail/scrape/target_url.ipp"
