#pragma once

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

}  // namespace k8s_sd_program
