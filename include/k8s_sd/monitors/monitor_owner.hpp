#pragma once

#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/selector.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// A version of Prometheus, such as 3.13.2.
struct MonitorVersion {
    std::uint64_t major = 3;   ///< 2 or 3
    std::uint64_t minor = 13;  ///< see above
    std::uint64_t patch = 2;   ///< see above
    bool pre_release = false;  ///< such as 3.5.0-rc.1: before 3.5.0
    auto operator<=>(const MonitorVersion&) const = default;
};

/// Which objects of a kind an owner selects.
struct MonitorSelection {
    /// nullopt: no object of that kind. An empty selector: all.
    std::optional<LabelSelector> objects{};
    /// Labels of the objects' namespaces. nullopt: only the owner's namespace. Empty: all.
    std::optional<LabelSelector> namespaces{};
    bool operator==(const MonitorSelection&) const = default;
};

/// Limits of an owner: its own, or those it enforces.
struct MonitorLimits {
    std::optional<std::uint64_t> sample{};              ///< `sampleLimit`
    std::optional<std::uint64_t> target{};              ///< `targetLimit`
    std::optional<std::uint64_t> label{};               ///< `labelLimit`
    std::optional<std::uint64_t> label_name_length{};   ///< `labelNameLengthLimit`
    std::optional<std::uint64_t> label_value_length{};  ///< `labelValueLengthLimit`
    std::optional<std::uint64_t> keep_dropped{};        ///< `keepDroppedTargets`
    std::string body_size{};                            ///< `bodySizeLimit`; empty: none
    bool operator==(const MonitorLimits&) const = default;
};

/// An entry of `scrapeClasses`.
struct ScrapeClass {
    std::string name{};       ///< unique
    bool is_default = false;  ///< for objects that name no class
    /// The entry as the owner has it: an object, validated.
    boost::json::value spec{};
    bool operator==(const ScrapeClass&) const = default;
};

/// An entry of `excludedFromEnforcement`.
struct EnforcementExclusion {
    std::string object_namespace{};               ///< that of the monitor
    std::string group = "monitoring.coreos.com";  ///< its API group
    std::string resource{};                       ///< such as `servicemonitors`
    std::string name{};                           ///< empty: all
    bool operator==(const EnforcementExclusion&) const = default;
};

/// What only a VMAgent or VMSingle object says.
struct VMOwnerSettings {
    /// The API server selects objects, not relabelling rules.
    bool kubernetes_api_selectors = false;
    std::string min_scrape_interval{};  ///< shorter intervals become this one; empty: none
    std::string max_scrape_interval{};  ///< longer intervals become this one; empty: none
    /// `serviceScrapeRelabelTemplate` and others, by MonitorKind: rules after those of the objects.
    std::array<boost::json::value, monitor_kind_count> relabel_templates{};
    boost::json::value relabel_configs{};         ///< of `global`
    boost::json::value metric_relabel_configs{};  ///< of `global`
    std::string inline_scrape_config{};           ///< raw jobs in YAML, the last of all
    bool operator==(const VMOwnerSettings&) const = default;
};

/// What a Prometheus or PrometheusAgent object says about monitors: which to select, and how to
/// make jobs of them. The defaults are the operator's; without selectors nothing is selected.
struct MonitorOwner {
    std::string name = "k8s-sd";    ///< for the external label `prometheus`
    std::string owner_namespace{};  ///< for selectors without a namespace selector
    bool is_agent = false;          ///< PrometheusAgent: another order of jobs
    bool daemon_set = false;        ///< an agent on each node: PodMonitors only
    std::array<MonitorSelection, monitor_kind_count> selections{};  ///< by MonitorKind
    /// Of VMAgent and VMSingle: monitors of VictoriaMetrics' kinds, in vmagent's dialect.
    std::optional<VMOwnerSettings> vm{};
    MonitorVersion version{};                   ///< decides the generated keys
    std::string scrape_interval = "30s";        ///< for objects without
    std::string scrape_timeout{};               ///< for objects without; empty: not generated
    std::vector<ScrapeClass> scrape_classes{};  ///< at most one default
    MonitorLimits limits{};                     ///< for `global`
    MonitorLimits enforced{};                   ///< upper bounds of the objects' limits
    std::string enforced_namespace_label{};     ///< empty: none
    std::vector<EnforcementExclusion> excluded_from_enforcement{};  ///< see above
    bool ignore_namespace_selectors = false;       ///< jobs discover in the object's namespace only
    bool override_honor_labels = false;            ///< honor_labels is false
    bool override_honor_timestamps = false;        ///< honor_timestamps is false
    bool deny_file_access = false;                 ///< ServiceMonitors must not name files
    std::vector<std::string> pod_target_labels{};  ///< added to those of the objects
    bool endpoint_slice_role = false;              ///< default of `serviceDiscoveryRole`
    std::uint64_t shards = 1;                      ///< 0 counts as 1
    std::vector<std::string> topology{};           ///< zones of `shardingStrategy`; empty: none
    std::string topology_label = "zone";           ///< external label of the zone; empty: none
    boost::json::value api_server{};               ///< `apiserverConfig`; null: none
    std::optional<MonitorReference> additional_scrape_configs{};  ///< raw jobs, appended
    bool additional_optional = false;                             ///< whether these may be absent
    /// Of the user; the two below have precedence.
    std::map<std::string, std::string> external_labels{};
    std::string owner_label = "prometheus";            ///< its value is "namespace/name"
    std::string replica_label = "prometheus_replica";  ///< its value is the name of the pod
    std::vector<std::string> scrape_protocols{};       ///< in order of preference; empty: default
    std::string name_validation_scheme{};              ///< "UTF8" or "Legacy"; empty: default
    std::string name_escaping_scheme{};  ///< "AllowUTF8", "Underscores", "Dots", "Values"
    std::optional<bool> scrape_native_histograms{};            ///< default of the jobs
    std::optional<bool> scrape_classic_histograms{};           ///< default of the jobs
    std::optional<bool> convert_classic_histograms_to_nhcb{};  ///< default of the jobs
    bool operator==(const MonitorOwner&) const = default;
};

/// Facts that are not in the owner's object.
struct MonitorOptions {
    /// TLS material as text in the jobs; otherwise file names below /etc/prometheus/certs/, as in
    /// the operator.
    bool inline_tls = true;
    /// Absent fields of an owner have the defaults of its CRD, as if an API server had added them.
    bool server_defaults = true;
    /// Generates every key, whatever the version.
    bool without_version_check = false;
    /// Whether the cluster has discovery.k8s.io/v1.
    bool endpoint_slices = true;
    bool retention_policies = false;   ///< feature PrometheusShardRetentionPolicy
    bool topology_sharding = false;    ///< feature PrometheusTopologySharding
    bool pod_topology_labels = false;  ///< Kubernetes labels pods with their zone (1.35)
    bool operator==(const MonitorOptions&) const = default;
};

}  // namespace k8s_sd::inline v0
