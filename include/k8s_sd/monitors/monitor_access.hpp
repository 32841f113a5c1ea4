#pragma once

#include "k8s_sd/access.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/role.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// The API group of prometheus-operator.
inline constexpr std::string_view monitor_api_group = "monitoring.coreos.com";
/// The API group of VictoriaMetrics' operator.
inline constexpr std::string_view vm_monitor_api_group = "operator.victoriametrics.com";

/// The kinds with jobs of a dialect: those of VictoriaMetrics' operator, or of prometheus-operator.
inline std::span<const MonitorKind> monitor_kinds_of(LabelDialect dialect) noexcept {
    if (detail::rules_of(dialect).has_monitors) return monitor_kinds;
    return vm_monitor_kinds;
}

/// The API group of a kind.
constexpr std::string_view api_group_of(MonitorKind kind) noexcept {
    return kind < MonitorKind::vm_service_scrape ? monitor_api_group : vm_monitor_api_group;
}

/// The right to list and watch monitors of a kind, or their owners.
/// \param plural  "servicemonitors"
/// \param ns      empty: all namespaces
inline AccessRule monitor_access_to(std::string_view plural, std::string_view ns = {},
                                    std::string_view group = monitor_api_group) {
    AccessRule rule;
    rule.api_group = group;
    rule.resource = plural;
    rule.ns = ns;
    return rule;
}

/// The access that a MonitorSource may need with any owner, sorted: monitors, their owners,
/// namespaces, Secrets and ConfigMaps. Needs no library. See required_access() for that of one
/// configuration.
/// \param dialect  selects the kinds, see monitor_kinds_of()
inline std::vector<AccessRule> monitor_access(LabelDialect dialect = LabelDialect::prometheus) {
    std::vector<AccessRule> rules{access_to(Kind::namespace_), access_to(Kind::secret),
                                  access_to(Kind::configmap)};
    const auto add = [&](std::initializer_list<std::string_view> plurals, std::string_view group) {
        for (const std::string_view plural : plurals) {
            rules.push_back(monitor_access_to(plural, {}, group));
        }
    };
    if (detail::rules_of(dialect).has_monitors) {
        add({"servicemonitors", "podmonitors", "probes", "scrapeconfigs", "prometheuses",
             "prometheusagents"},
            monitor_api_group);
    } else {
        add({"vmservicescrapes", "vmpodscrapes", "vmprobes", "vmnodescrapes", "vmstaticscrapes",
             "vmscrapeconfigs", "vmagents", "vmsingles"},
            vm_monitor_api_group);
    }
    std::sort(rules.begin(), rules.end());
    return rules;
}

}  // namespace k8s_sd::inline v0
