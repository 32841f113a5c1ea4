#pragma once

#include "k8s_sd/access.hpp"
#include "k8s_sd/kind.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// The API group of monitors.
inline constexpr std::string_view monitor_api_group = "monitoring.coreos.com";

/// The right to list and watch monitors of a kind, or their owners.
/// \param plural  "servicemonitors"
/// \param ns      empty: all namespaces
inline AccessRule monitor_access_to(std::string_view plural, std::string_view ns = {}) {
    AccessRule rule;
    rule.api_group = monitor_api_group;
    rule.resource = plural;
    rule.ns = ns;
    return rule;
}

/// The access that a MonitorSource may need with any owner, sorted: monitors, their owners,
/// namespaces, Secrets and ConfigMaps. Needs no library. See required_access() for that of one
/// configuration.
inline std::vector<AccessRule> monitor_access() {
    std::vector<AccessRule> rules{access_to(Kind::namespace_), access_to(Kind::secret),
                                  access_to(Kind::configmap)};
    for (const char* plural : {"servicemonitors", "podmonitors", "probes", "scrapeconfigs",
                               "prometheuses", "prometheusagents"}) {
        rules.push_back(monitor_access_to(plural));
    }
    std::sort(rules.begin(), rules.end());
    return rules;
}

}  // namespace k8s_sd::inline v0
