#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The kinds of monitors, in the order of the generated jobs: those of prometheus-operator, then
/// those of VictoriaMetrics' operator.
enum class MonitorKind : std::uint8_t {
    service_monitor,
    pod_monitor,
    probe,
    scrape_config,
    vm_service_scrape,
    vm_pod_scrape,
    vm_probe,
    vm_node_scrape,
    vm_static_scrape,
    vm_scrape_config,
};

/// The number of kinds.
inline constexpr std::size_t monitor_kind_count = 10;

/// The kinds of prometheus-operator, `monitoring.coreos.com`.
inline constexpr std::array<MonitorKind, 4> monitor_kinds{
    MonitorKind::service_monitor, MonitorKind::pod_monitor, MonitorKind::probe,
    MonitorKind::scrape_config};

/// The kinds of VictoriaMetrics' operator, `operator.victoriametrics.com/v1beta1`.
inline constexpr std::array<MonitorKind, 6> vm_monitor_kinds{
    MonitorKind::vm_service_scrape, MonitorKind::vm_pod_scrape,    MonitorKind::vm_probe,
    MonitorKind::vm_node_scrape,    MonitorKind::vm_static_scrape, MonitorKind::vm_scrape_config};

/// "ServiceMonitor": the kind of the object in the API.
constexpr std::string_view to_string(MonitorKind kind) noexcept {
    constexpr std::array<std::string_view, monitor_kind_count> names{
        "ServiceMonitor", "PodMonitor", "Probe",        "ScrapeConfig",   "VMServiceScrape",
        "VMPodScrape",    "VMProbe",    "VMNodeScrape", "VMStaticScrape", "VMScrapeConfig"};
    return names[static_cast<std::size_t>(kind)];
}

/// "serviceMonitor/": names of jobs begin so, before "namespace/name". The kinds of VictoriaMetrics
/// have prefixes without "VM", so two of them have those of prometheus-operator.
constexpr std::string_view job_prefix_of(MonitorKind kind) noexcept {
    constexpr std::array<std::string_view, monitor_kind_count> prefixes{
        "serviceMonitor/", "podMonitor/", "probe/",      "scrapeConfig/", "serviceScrape/",
        "podScrape/",      "probe/",      "nodeScrape/", "staticScrape/", "scrapeConfig/"};
    return prefixes[static_cast<std::size_t>(kind)];
}

/// Why an object makes no jobs, in words.
struct MonitorRefusal {
    std::string reason{};  ///< the field and the fault; never a secret value
    std::string remedy{};  ///< what to change, and where
    auto operator<=>(const MonitorRefusal&) const = default;
};

/// Bounds of the jobs of all monitors together. Namespaces share the quota equally, whatever the
/// order of changes: while it does not suffice for all monitors, the next one to get its jobs is
/// always of the namespace with the smallest part so far, in the order of kinds, then of names.
/// The others are refused.
struct MonitorQuota {
    std::size_t jobs = 100'000;  ///< number of jobs
    /// Estimated memory of their configurations, with the values of Secrets and with compiled
    /// relabelling rules.
    std::size_t bytes = std::size_t{512} << 20;
    bool operator==(const MonitorQuota&) const = default;
};

/// A key of a Secret or ConfigMap named by a monitor or an owner.
struct MonitorReference {
    /// The kind of the referenced object.
    enum class Kind : std::uint8_t { secret, config_map };
    Kind kind = Kind::secret;        ///< see above
    std::string object_namespace{};  ///< that of the monitor
    std::string name{};              ///< of the Secret or ConfigMap
    std::string key{};               ///< below `data`
    auto operator<=>(const MonitorReference&) const = default;
};

}  // namespace k8s_sd::inline v0
