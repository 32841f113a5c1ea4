#include "text_labels.hpp"

#include "cli/terminal_text.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace discover {

namespace {

using cli::printable;
using k8s_sd::LabelMap;
using k8s_sd::Role;

constexpr std::string_view prefix = "__meta_kubernetes_";

std::string_view without(std::string_view start, std::string_view label) {
    return label.starts_with(start) ? label.substr(start.size()) : label;
}

std::vector<std::string_view> own_prefixes(Role role) {
    switch (role) {
        case Role::node: return {"node_"};
        case Role::pod: return {"pod_"};
        case Role::service: return {"service_"};
        case Role::endpoints: return {"endpoint_"};
        case Role::endpointslice:
            return {"endpointslice_endpoint_conditions_", "endpointslice_endpoint_",
                    "endpointslice_"};
        case Role::ingress: return {"ingress_"};
        case Role::gateway: return {"gateway_"};
        case Role::httproute: return {"httproute_"};
        case Role::grpcroute: return {"grpcroute_"};
        case Role::tlsroute: return {"tlsroute_"};
        default: return {};
    }
}

/// \param of  see differences()
std::string_view shown_name(std::string_view label, std::optional<Role> of) {
    const std::string_view name = without(prefix, label);
    if (!of) return name;
    for (const std::string_view own : own_prefixes(*of)) {
        if (name.starts_with(own)) return without(own, name);
    }
    return name;
}

struct DistinctiveLabel {
    std::string_view shown_as;
    std::string_view name;  // without the prefix
};

std::vector<DistinctiveLabel> distinctive_labels_of(Role role) {
    switch (role) {
        case Role::node:
            return {{"name", "node_name"}, {"zone", "node_label_topology_kubernetes_io_zone"}};
        case Role::pod:
            return {{"phase", "pod_phase"},
                    {"ready", "pod_ready"},
                    {"node", "pod_node_name"},
                    {"container", "pod_container_name"},
                    {"port", "pod_container_port_name"}};
        case Role::service: return {{"type", "service_type"}, {"port", "service_port_name"}};
        case Role::endpoints:
            return {{"ready", "endpoint_ready"},
                    {"node", "pod_node_name"},
                    {"pod", "pod_name"},
                    {"port", "endpoint_port_name"}};
        case Role::endpointslice:
            return {{"ready", "endpointslice_endpoint_conditions_ready"},
                    {"node", "pod_node_name"},
                    {"pod", "pod_name"},
                    {"port", "endpointslice_port_name"}};
        case Role::ingress:
            return {
                {"scheme", "ingress_scheme"}, {"host", "ingress_host"}, {"path", "ingress_path"}};
        case Role::gateway:
            return {{"listener", "gateway_listener_name"},
                    {"protocol", "gateway_listener_protocol"}};
        case Role::httproute:
            return {{"scheme", "httproute_scheme"},
                    {"path", "httproute_path"},
                    {"gateway", "gateway_name"},
                    {"listener", "gateway_listener_name"}};
        case Role::grpcroute:
            return {{"service", "grpcroute_service"},
                    {"method", "grpcroute_method"},
                    {"gateway", "gateway_name"},
                    {"listener", "gateway_listener_name"}};
        case Role::tlsroute:
            return {{"gateway", "gateway_name"}, {"listener", "gateway_listener_name"}};
        default: return {};  // shown by its address
    }
}

std::string value_in(const LabelMap& labels, const std::string& name) {
    const auto it = labels.find(name);
    return it == labels.end() || it->second.empty() ? "(none)" : printable(it->second);
}

}  // namespace

std::string distinctive_labels(Role role, const k8s_sd::TargetGroup& group, std::size_t target) {
    const LabelMap labels = group.merged(target);
    std::string text;
    for (const DistinctiveLabel& label : distinctive_labels_of(role)) {
        const auto it = labels.find(std::string(prefix) + std::string(label.name));
        if (it == labels.end()) continue;
        (text += text.empty() ? "" : " ") +=
            std::string(label.shown_as) + "=" + printable(it->second);
    }
    return text;
}

std::string differences(const k8s_sd::Labels& before, const k8s_sd::Labels& after,
                        std::optional<Role> of) {
    constexpr std::size_t max_changes = 6;
    const LabelMap old_labels = before.to_map();
    const LabelMap new_labels = after.to_map();
    std::set<std::string> names;
    for (const auto& [name, value] : old_labels) names.insert(name);
    for (const auto& [name, value] : new_labels) names.insert(name);
    std::string text;
    std::size_t count = 0;
    for (const std::string& name : names) {
        const std::string old_value = value_in(old_labels, name);
        const std::string new_value = value_in(new_labels, name);
        if (old_value == new_value || ++count > max_changes) continue;
        (text += text.empty() ? "" : ", ") +=
            printable(shown_name(name, of)) + ": " + old_value + " -> " + new_value;
    }
    if (count > max_changes) text += " and " + std::to_string(count - max_changes) + " more";
    return text;
}

}  // namespace discover
