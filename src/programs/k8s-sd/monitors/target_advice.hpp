#pragma once

#include "jobs/job_targets.hpp"
#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "table/target_table.hpp"

#include <optional>

namespace k8s_sd_program {

/// Why a job made of a monitor has no active target: no Service that its selector matches, no port
/// of the name, or another rule. nullopt: it has some, or a target of it cannot be scraped.
/// \param table  complete
std::optional<k8s_sd::MonitorRefusal> advice_on_targets(const TargetTable& table,
                                                        const k8s_sd::ScrapeJob& job);

/// The same without a table, so it costs little: only the rules of selector and port are
/// considered, and not of very many targets.
std::optional<k8s_sd::MonitorRefusal> quick_advice(const JobTargets&, const k8s_sd::ScrapeJob& job);

}  // namespace k8s_sd_program
