#pragma once

#include "k8s_sd/monitors/monitor_source.hpp"

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// Which monitors to serve.
struct MonitorsOptions {
    bool enabled = false;
    std::string file;                       ///< of the owner, or of a Target Allocator; empty: none
    std::string owner;                      ///< "[KIND/]NAMESPACE/NAME" in the cluster; empty: none
    std::string own_namespace = "default";  ///< for selectors without a namespace selector
    k8s_sd::MonitorQuota quota;             ///< for the jobs of all monitors
    /// Of the served jobs: VictoriaMetrics' kinds of monitors have jobs in its dialect.
    k8s_sd::LabelDialect dialect = k8s_sd::LabelDialect::prometheus;
};

/// The owner of monitors without a file or an object: selects all monitors of all namespaces, of
/// the kinds with jobs in the dialect.
k8s_sd::MonitorOwnerDocument default_owner(const std::string& own_namespace, k8s_sd::LabelDialect);

/// Sets the parts of the configuration for monitors, from a YAML file: an object of a
/// MonitorOwnerKind, or the configuration of a Target Allocator with `prometheus_cr`.
/// \returns whether monitors are wanted: false with `prometheus_cr.enabled: false`
/// \throws k8s_sd::ConfigError
bool read_monitors_file(std::string_view yaml, const std::string& file,
                        const std::string& own_namespace, k8s_sd::MonitorSourceConfig&);

/// "monitoring/main", "VMAgent/monitoring/main". \throws k8s_sd::ConfigError
k8s_sd::MonitorOwnerObject parse_owner_name(const std::string&);

/// The configuration according to the options; without the server. \throws k8s_sd::ConfigError
k8s_sd::MonitorSourceConfig monitors_config(const MonitorsOptions&, bool& wanted);

}  // namespace k8s_sd_program
