#include "monitors/target_advice.hpp"

#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/target_filter.hpp"
#include "k8s_sd/target_filter.hpp"

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

/// \param sources  of a rule that keeps
const PortLabel* port_label_of(const std::vector<std::string>& sources) {
    if (sources.size() != 1) return nullptr;
    const auto found = std::find_if(port_labels.begin(), port_labels.end(), [&](const auto& known) {
        return known.label == sources.front();
    });
    return found != port_labels.end() ? &*found : nullptr;
}

/// "Service", "pod" or "ingress" if a rule with these sources is one of a selector; else empty.
std::string_view selected_by(const std::vector<std::string>& sources) {
    struct Prefix {
        std::string_view label, object;
    };
    constexpr std::array<Prefix, 4> prefixes{{{"__meta_kubernetes_service_label", "Service"},
                                              {"__meta_kubernetes_pod_label", "pod"},
                                              {"__meta_kubernetes_ingress_label", "Ingress"},
                                              {"__meta_kubernetes_node_label", "node"}}};
    if (sources.empty()) return {};
    for (const Prefix& prefix : prefixes) {
        if (sources.front().starts_with(prefix.label)) return prefix.object;
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
    if (names.empty()) return "in any namespace";
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

bool is_of(k8s_sd::MonitorKind kind, const k8s_sd::ScrapeConfig& config) {
    return config.job_name.starts_with(job_prefix_of(kind));
}

/// Whether the job has the name of one of a monitor.
bool is_of_monitor(const k8s_sd::ScrapeConfig& config) {
    const auto begins = [&](k8s_sd::MonitorKind kind) { return is_of(kind, config); };
    return std::any_of(k8s_sd::monitor_kinds.begin(), k8s_sd::monitor_kinds.end(), begins) ||
           std::any_of(k8s_sd::vm_monitor_kinds.begin(), k8s_sd::vm_monitor_kinds.end(), begins);
}

/// The number of rules that come from the monitor's selector and port. The copy of the namespace
/// follows them; the user's own rules come later. A ScrapeConfig has only the user's.
std::size_t selecting_rules(const k8s_sd::ScrapeConfig& config) {
    if (!is_of_monitor(config) || is_of(k8s_sd::MonitorKind::scrape_config, config)) return 0;
    const auto& rules = config.relabel_configs;
    const auto copy = std::find_if(rules.begin(), rules.end(), [](const RelabelRule& rule) {
        return rule.target_label == "namespace";
    });
    return copy != rules.end() ? static_cast<std::size_t>(copy - rules.begin()) : 0;
}

MonitorRefusal nothing_discovered(const k8s_sd::ScrapeConfig& config,
                                  const k8s_sd::ScrapeJob& job) {
    const bool of_monitor = is_of_monitor(config);
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

std::string_view value_of(const k8s_sd::TargetGroup& group, std::size_t index,
                          std::string_view label) {
    const auto find = [&](const k8s_sd::Labels& labels) -> std::string_view {
        for (const auto& [name, value] : labels) {
            if (name == label) return value;
        }
        return {};
    };
    const std::string_view own = find(group[index]);
    return own.empty() ? find(group.labels()) : own;
}

constexpr std::size_t max_values = 10;

/// "http, grpc"
std::string in_words(const std::set<std::string_view>& values) {
    std::string text;
    std::size_t count = 0;
    for (const std::string_view value : values) {
        if (++count > max_values) return text + ", …";
        text += text.empty() ? "" : ", ";
        text += value.empty() ? "one without a name" : value;
    }
    return text;
}

/// The values of a label of the targets dropped by a rule: "http, grpc". Examines the first such
/// targets only: a job may have very many.
std::string values_of(const TargetTable& table, std::size_t rule, std::string_view label) {
    constexpr std::size_t max_rows = 1000;
    std::set<std::string_view> values;
    std::size_t rows = 0;
    for (const TargetRow& row : table.rows()) {
        if (row.rule != rule || row.state != TargetState::dropped) continue;
        values.insert(value_of(*row.group, row.index, label));
        if (values.size() > max_values || ++rows == max_rows) break;
    }
    return in_words(values);
}

MonitorRefusal no_port(const PortLabel& port, const std::string& name, const std::string& values) {
    return {"no " + std::string(port.object) + " that the monitor selects has a " +
                std::string(port.port) + " " + name + "; they have " + values,
            std::string(port.remedy)};
}

MonitorRefusal no_labels(std::string_view object, const k8s_sd::ScrapeJob& job) {
    return {"no " + std::string(object) + " " + where(job) +
                " has the labels of the monitor's selector",
            "compare spec.selector with the labels of the " + std::string(object) + "; " +
                std::string(namespace_remedy)};
}

constexpr std::size_t max_name = 200;

bool is_met(const k8s_sd::LabelCondition& condition, const k8s_sd::TargetGroup& group,
            std::size_t index) {
    std::string joined;
    for (const std::string& label : condition.labels) {
        if (&label != &condition.labels.front()) joined += condition.separator;
        joined += value_of(group, index, label);
    }
    return std::find(condition.values.begin(), condition.values.end(), joined) !=
           condition.values.end();
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
    if (last >= rules.size()) return nothing_discovered(table.config(), job);
    // No target passes the last rule that drops any.
    const RelabelRule& rule = rules[last];
    const bool keeps = rule.action == RelabelAction::keep;
    const bool selects =
        last < selecting_rules(table.config()) && (keeps || rule.action == RelabelAction::drop);
    const PortLabel* const port = keeps ? port_label_of(rule.source_labels) : nullptr;
    if (selects && port && rule.regex.size() <= max_name) {
        return no_port(*port, rule.regex, values_of(table, last, port->label));
    }
    if (const std::string_view object = selected_by(rule.source_labels);
        selects && !object.empty()) {
        return no_labels(object, job);
    }
    return MonitorRefusal{"all of its targets are dropped, the last ones by relabel_configs[" +
                              std::to_string(last) + "]",
                          "see the dropped targets of the job with the reason for each"};
}

std::optional<MonitorRefusal> quick_advice(const JobTargets& targets,
                                           const k8s_sd::ScrapeJob& job) {
    constexpr std::size_t max_targets = 5'000;
    const JobTargetCounts counts = targets.counts();
    if (!counts.none()) return {};
    if (counts.discovered == 0) return nothing_discovered(targets.config(), job);
    const MonitorRefusal dropped{"all of its targets are dropped",
                                 "see the dropped targets of the job with the reason for each"};
    if (counts.discovered > max_targets) return dropped;
    k8s_sd::ScrapeConfig selecting = targets.config();
    selecting.relabel_configs.truncate(selecting_rules(selecting));
    const k8s_sd::TargetFilter filter = k8s_sd::target_filter(selecting);
    const auto& conditions = filter.conditions;
    // The first condition that no target meets, among those that meet all before it.
    std::size_t unmet = 0;
    std::set<std::string_view> values;
    const std::vector<k8s_sd::TargetGroupPtr> groups = targets.all_groups();
    for (const k8s_sd::TargetGroupPtr& group : groups) {
        for (std::size_t i = 0; i < group->size(); ++i) {
            std::size_t met = 0;
            while (met < conditions.size() && is_met(conditions[met], *group, i)) ++met;
            if (met == conditions.size()) return dropped;
            if (met < unmet) continue;
            if (met > unmet) values.clear();
            unmet = met;
            if (conditions[met].labels.size() != 1 || values.size() > max_values) continue;
            values.insert(value_of(*group, i, conditions[met].labels.front()));
        }
    }
    if (conditions.empty()) return dropped;
    const k8s_sd::LabelCondition& condition = conditions[unmet];
    const PortLabel* const port = port_label_of(condition.labels);
    if (port && condition.values.size() == 1 && condition.values.front().size() <= max_name) {
        return no_port(*port, condition.values.front(), in_words(values));
    }
    const std::string_view object = selected_by(condition.labels);
    return object.empty() ? dropped : no_labels(object, job);
}

}  // namespace k8s_sd_program
