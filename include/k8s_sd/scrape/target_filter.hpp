#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/target_filter.hpp"

namespace k8s_sd::inline v0 {

/// Recognizes the `keep` rules at the beginning of `relabel_configs` with literal values of
/// discovered labels, such as those for the selector of a ServiceMonitor. The rules drop each
/// target that does not pass the filter. docs/guide/scrape-targets.md has the recognized rules.
/// Empty if there are none.
K8S_SD_EXPORT TargetFilter target_filter(const ScrapeConfig&);

/// The discovery of a job with its filter, for a host that passes the job's diffs to a TargetPool
/// and nowhere else. The pool has the same targets as without the filter, and counts and reports
/// the dropped ones, too. If the rules change, call DiscoveryManager::apply_config() or
/// change_jobs() with the new filter, then TargetPool::reload(). Targets that only the new filter
/// passes follow with the next diff: at once, unless the host holds the previous one.
K8S_SD_EXPORT Job filtered_discovery(const ScrapeJob&);

}  // namespace k8s_sd::inline v0
