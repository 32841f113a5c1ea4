#include "monitors/target_advice.hpp"

#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/role.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace k8s_sd_program {

namespace {

using k8s_sd::MonitorRefusal;
using k8s_sd::RelabelAction;
using k8s_sd::RelabelRule;

/// A label with a port, and the words for it.
struct PortLabel {
    std::string_view label;
    std::string_view object;  ///< it has the port
    std::string_view port;    ///< "port named"
    std::string_view remedy;
};

constexpr std::string_view name_remedy =
    "set port of the endpoint to one of these names, or name the port of the Service so; a "
    "number belongs in targetPort";
constexpr std::string_view container_remedy =
    "correct the port of the endpoint, or declare the port in the container";

constexpr std::array<PortLabel, 5> port_labels{{
    {"__meta_kubernetes_endpointslice_port_name", "Service", "port named", name_remedy},
    {"__meta_kubernetes_endpoint_port_name", "Service", "port named", name_remedy},
    {"__meta_kubernetes_service_port_name", "Service", "port named", name_remedy},
    {"__meta_kubernetes_pod_container_port_name", "pod", "container port named", container_remedy},
    {"__meta_kubernetes_pod_container_port_number", "pod", "container port", container_remedy},
}};

const PortLabel* port_label_of(const RelabelRule& rule) {
    if (rule.action != RelabelAction::keep || rule.source_labels.size() != 1) return nullptr;
    const auto found = std::find_if(port_labels.begin(), port_labels.end(), [&](const auto& known) {
        return known.label == rule.source_labels.front();
    });
    return found != port_labels.end() ? &*found : nullptr;
}

/// "Service", "pod" or "ingress" if the rule is one of a selector; else empty.
std::string_view selected_by(const RelabelRule& rule) {
    struct Prefix {
        std::string_view label, object;
    };
    constexpr std::array<Prefix, 4> prefixes{{{"__meta_kubernetes_service_label", "Service"},
                                              {"__meta_kubernetes_pod_label", "pod"},
                                              {"__meta_kubernetes_ingress_label", "Ingress"},
                                              {"__meta_kubernetes_node_label", "node"}}};
    if (rule.action != RelabelAction::keep && rule.action != RelabelAction::drop) return {};
    if (rule.source_labels.empty()) return {};
    for (const Prefix& prefix : prefixes) {
        if (rule.source_labels.front().starts_with(prefix.label)) return prefix.object;
    }
    return {};
}

/// "in the namespaces a and b", "in any namespace".
std::string where(const k8s_sd::ScrapeJob& job) {
    std::set<std::string> names;
    for (const k8s_sd::DiscoveryConfig& config : job.discovery.configs) {
        if (config.namespaces.empty()) return "in any namespace";
        names.insert(config.namespaces.begin(), config.namespaces.end());
    }
    constexpr std::size_t max_names = 5;
    std::string text = names.size() == 1 ? "in the namespace" : "in the namespaces";
    std::size_t count = 0;
    for (const std::string& name : names) {
        if (++count > max_names) return text + " and others";
        text += (count == 1 ? " " : ", ") + name;
    }
    return text;
}

constexpr std::string_view namespace_remedy =
    "namespaceSelector of the monitor says where to look: its own namespace by default";

bool is_of(k8s_sd::MonitorKind kind, const TargetTable& table) {
    return table.config().job_name.starts_with(job_prefix_of(kind));
}

/// Whether the job has the name of one of a monitor.
bool is_of_monitor(const TargetTable& table) {
    const auto begins = [&](k8s_sd::MonitorKind kind) { return is_of(kind, table); };
    return std::any_of(k8s_sd::monitor_kinds.begin(), k8s_sd::monitor_kinds.end(), begins) ||
           std::any_of(k8s_sd::vm_monitor_kinds.begin(), k8s_sd::vm_monitor_kinds.end(), begins);
}

/// The number of rules that come from the monitor's selector and port. The copy of the namespace
/// follows them; the user's own rules come later. A ScrapeConfig has only the user's.
std::size_t selecting_rules(const TargetTable& table) {
    if (!is_of_monitor(table) || is_of(k8s_sd::MonitorKind::scrape_config, table)) return 0;
    const auto& rules = table.config().relabel_configs;
    const auto copy = std::find_if(rules.begin(), rules.end(), [](const RelabelRule& rule) {
        return rule.target_label == "namespace";
    });
    return copy != rules.end() ? static_cast<std::size_t>(copy - rules.begin()) : 0;
}

MonitorRefusal nothing_discovered(const TargetTable& table, const k8s_sd::ScrapeJob& job) {
    const bool of_monitor = is_of_monitor(table);
    if (job.discovery.configs.empty()) {
        return {"no target is discovered", of_monitor ? "see the targets in the spec of the monitor"
                                                      : "see the targets of the job"};
    }
    const k8s_sd::DiscoveryConfig& first = job.discovery.configs.front();
    const std::string reason =
        "no target of role " + std::string(to_string(first.role)) + " is discovered " + where(job);
    if (!of_monitor) return {reason, "see namespaces and selectors of the job"};
    const std::string selector =
        first.selectors.empty() ? "" : "compare spec.selector with the labels of the objects; ";
    return {reason, selector + std::string(namespace_remedy) +
                        "; an endpoint exists once a pod backs the Service"};
}

std::string_view value_of(const TargetRow& row, std::string_view label) {
    const auto find = [&](const k8s_sd::Labels& labels) -> std::string_view {
        for (const auto& [name, value] : labels) {
            if (name == label) return value;
        }
        return {};
    };
    const std::string_view own = find((*row.group)[row.index]);
    return own.empty() ? find(row.group->labels()) : own;
}

/// The values of a label of the targets dropped by a rule: "http, grpc". Examines the first such
/// targets only: a job may have very many.
std::string values_of(const TargetTable& table, std::size_t rule, std::string_view label) {
    constexpr std::size_t max_values = 10;
    constexpr std::size_t max_rows = 1000;
    std::set<std::string_view> values;
    std::size_t rows = 0;
    for (const TargetRow& row : table.rows()) {
        if (row.rule != rule || row.state != TargetState::dropped) continue;
        values.insert(value_of(row, label));
        if (values.size() > max_values || ++rows == max_rows) break;
    }
    std::string text;
    std::size_t count = 0;
    for (const std::string_view value : values) {
        if (++count > max_values) return text + ", …";
        text += text.empty() ? "" : ", ";
        text += value.empty() ? "one without a name" : value;
    }
    return text;
}

}  // namespace

std::optional<MonitorRefusal> advice_on_targets(const TargetTable& table,
                                                const k8s_sd::ScrapeJob& job) {
    const RowCounts& counts = table.counts();
    if (counts.of(TargetState::active) > 0 || counts.of(TargetState::failed) > 0) return {};
    std::size_t last = counts.by_rule.size();
    for (std::size_t i = 0; i < counts.by_rule.size(); ++i) {
        if (counts.by_rule[i] > 0) last = i;
    }
    const auto& rules = table.config().relabel_configs;
    if (last >= rules.size()) return nothing_discovered(table, job);
    // No target passes the last rule that drops any.
    const RelabelRule& rule = rules[last];
    const bool selects = last < selecting_rules(table);
    constexpr std::size_t max_name = 200;
    const PortLabel* const port = port_label_of(rule);
    if (selects && port && rule.regex.size() <= max_name) {
        return MonitorRefusal{"no " + std::string(port->object) +
                                  " that the monitor selects has a " + std::string(port->port) +
                                  " " + rule.regex + "; they have " +
                                  values_of(table, last, port->label),
                              std::string(port->remedy)};
    }
    if (const std::string_view object = selected_by(rule); selects && !object.empty()) {
        return MonitorRefusal{"no " + std::string(object) + " " + where(job) +
                                  " has the labels of the monitor's selector",
                              "compare spec.selector with the labels of the " +
                                  std::string(object) + "; " + std::string(namespace_remedy)};
    }
    return MonitorRefusal{"all of its targets are dropped, the last ones by relabel_configs[" +
                              std::to_string(last) + "]",
                          "see the dropped targets of the job with the reason for each"};
}

}  // namespace k8s_sd_program
