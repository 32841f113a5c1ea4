#pragma once

#include "cli/command_line.hpp"
#include "cli/fleet_options.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/scrape/sharding.hpp"
#include "k8s_sd/warm_start.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace scraper {

/// The treatment of targets from a snapshot until the API server confirms them.
enum class Unconfirmed { without_credentials, off, on };

/// The values of the options.
struct Options {
    bool sim = false;
    k8s_sd::DiscoveryConfig server;  ///< the server of configurations without one
    std::string config_file;
    bool strict = false;
    k8s_sd::LabelDialect dialect = k8s_sd::LabelDialect::prometheus;
    k8s_sd::PrometheusVersion prometheus_version = k8s_sd::PrometheusVersion::v3_5;
    k8s_sd::ShardingOptions sharding;
    cli::FleetOptions fleet;
    k8s_sd::WarmStart warm_start;
    Unconfirmed unconfirmed = Unconfirmed::without_credentials;
    std::chrono::milliseconds check_interval = std::chrono::seconds(5);
    std::chrono::milliseconds report_interval = std::chrono::seconds(5);
    unsigned threads = 1;
    unsigned scrapes = 0;                               ///< end after this number; 0: no limit
    std::optional<std::chrono::milliseconds> duration;  ///< end after this time
    bool explain = false;
};

/// The options of the program; they set `Options`.
cli::CommandLine command_line(Options&);

/// Refuses insufficient options. \throws cli::UsageError
void check(const Options&);

}  // namespace scraper
