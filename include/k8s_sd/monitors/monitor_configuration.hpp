#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/monitors/monitor_owner.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// An owner with everything it may select, for make_monitor_configuration().
struct MonitorInputs {
    /// A Prometheus or PrometheusAgent object.
    boost::json::value owner{};
    /// For an owner without `metadata.namespace`.
    std::string owner_namespace{};
    /// ServiceMonitors, PodMonitors, Probes and ScrapeConfigs in any order; others are ignored.
    std::vector<boost::json::value> objects{};
    /// The labels of each namespace, by its name. Monitors elsewhere are not selected.
    std::map<std::string, std::map<std::string, std::string, std::less<>>> namespaces{};
    /// The values of Secrets and ConfigMaps.
    std::map<MonitorReference, std::string> values{};
    /// Bounds of all jobs together; those of `additionalScrapeConfigs` are not counted.
    MonitorQuota quota{};
};

/// A monitor left out of a configuration.
struct RefusedMonitor {
    std::string object{};      ///< "ServiceMonitor namespace/name"
    MonitorRefusal refusal{};  ///< why, and what to change
    bool operator==(const RefusedMonitor&) const = default;
};

/// The configuration of an owner.
struct MonitorConfiguration {
    /// Selected and valid monitors, "ServiceMonitor namespace/name", by kind and key.
    std::vector<std::string> accepted{};
    std::vector<RefusedMonitor> refused{};    ///< selected but invalid ones, in the same order
    std::optional<MonitorRefusal> refusal{};  ///< of the owner; then nothing is generated
    boost::json::object config{};             ///< `global` and `scrape_configs`
};

/// Makes the configuration of an owner, as prometheus-operator 0.93 does: selects, validates and
/// generates everything at once. Placeholders such as `$(SHARD)` stay. The objects may have any
/// content. Thread-safe.
K8S_SD_EXPORT MonitorConfiguration make_monitor_configuration(const MonitorInputs&,
                                                              const MonitorOptions& = {});

/// JSON as a YAML document in block style, for people.
K8S_SD_EXPORT std::string to_yaml(const boost::json::value&);

}  // namespace k8s_sd::inline v0
