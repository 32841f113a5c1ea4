#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"

#include <string>

/// Monitors of a cluster.
namespace monitors {

/// The cluster, and the owner of its monitors.
struct ClusterOptions {
    k8s_sd::DiscoveryConfig server;  ///< without a server: a simulated cluster
    std::string owner;               ///< "[KIND/]NAMESPACE/NAME" in the cluster; empty: see below
    std::string owner_file;          ///< YAML; empty: all monitors of all namespaces
    bool once = false;               ///< end when the first targets of all jobs are known
};

/// The owner according to the options. \throws k8s_sd::ConfigError
k8s_sd::MonitorOwnerInput owner_of(const ClusterOptions&);

/// Runs a scraper that does not scrape: prints its targets and their changes, and refused monitors.
void follow(const ClusterOptions&);

/// Prints the configuration that the monitors of a name become, with "<secret>" in place of values.
/// \param object  "NAMESPACE/NAME"
/// \throws cli::Unusable if there is no such monitor, or it is refused
void print(const ClusterOptions&, const std::string& object);

}  // namespace monitors
