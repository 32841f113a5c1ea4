#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/labels.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// A label, or, with a trailing "_", a family of labels with keys of the object in their names.
struct LabelSource {
    std::string_view name;  // without "__meta_kubernetes_"
    Kind kind;
    std::string_view field;  // "{}" stands for a family's key
};

// clang-format off
// A test compares this list with docs/guide/labels.md and with the roles: so rows
// have one form.
constexpr LabelSource label_sources[] = {
    {"node_name", Kind::node, "metadata.name"},
    {"node_provider_id", Kind::node, "spec.providerID"},
    {"node_address_", Kind::node, "status.addresses[type={}].address"},
    {"node_condition_", Kind::node, "status.conditions[type={}].status"},
    {"pod_name", Kind::pod, "metadata.name"},
    {"pod_uid", Kind::pod, "metadata.uid"},
    {"pod_ip", Kind::pod, "status.podIP"},
    {"pod_host_ip", Kind::pod, "status.hostIP"},
    {"pod_node_name", Kind::pod, "spec.nodeName"},
    {"pod_phase", Kind::pod, "status.phase"},
    {"pod_ready", Kind::pod, "status.conditions[type=Ready].status"},
    {"pod_controller_kind", Kind::pod, "metadata.ownerReferences[controller=true].kind"},
    {"pod_controller_name", Kind::pod, "metadata.ownerReferences[controller=true].name"},
    {"pod_container_name", Kind::pod, "spec.containers[*].name"},
    {"pod_container_image", Kind::pod, "spec.containers[*].image"},
    {"pod_container_init", Kind::pod, "spec.initContainers[*]"},
    {"pod_container_id", Kind::pod, "status.containerStatuses[*].containerID"},
    {"pod_container_port_name", Kind::pod, "spec.containers[*].ports[*].name"},
    {"pod_container_port_number", Kind::pod, "spec.containers[*].ports[*].containerPort"},
    {"pod_container_port_protocol", Kind::pod, "spec.containers[*].ports[*].protocol"},
    {"pod_deployment_name", Kind::replicaset, "metadata.ownerReferences[controller=true].name"},
    {"pod_job_name", Kind::pod, "metadata.ownerReferences[controller=true].name"},
    {"pod_cronjob_name", Kind::job, "metadata.ownerReferences[controller=true].name"},
    {"service_name", Kind::service, "metadata.name"},
    {"service_type", Kind::service, "spec.type"},
    {"service_cluster_ip", Kind::service, "spec.clusterIP"},
    {"service_external_name", Kind::service, "spec.externalName"},
    {"service_loadbalancer_ip", Kind::service, "spec.loadBalancerIP"},
    {"service_port_name", Kind::service, "spec.ports[*].name"},
    {"service_port_number", Kind::service, "spec.ports[*].port"},
    {"service_port_protocol", Kind::service, "spec.ports[*].protocol"},
    {"endpoints_name", Kind::endpoints, "metadata.name"},
    {"endpoint_ready", Kind::endpoints, "subsets[*].addresses, subsets[*].notReadyAddresses"},
    {"endpoint_port_name", Kind::endpoints, "subsets[*].ports[*].name"},
    {"endpoint_port_protocol", Kind::endpoints, "subsets[*].ports[*].protocol"},
    {"endpoint_hostname", Kind::endpoints, "subsets[*].addresses[*].hostname"},
    {"endpoint_node_name", Kind::endpoints, "subsets[*].addresses[*].nodeName"},
    {"endpoint_address_target_kind", Kind::endpoints, "subsets[*].addresses[*].targetRef.kind"},
    {"endpoint_address_target_name", Kind::endpoints, "subsets[*].addresses[*].targetRef.name"},
    {"endpointslice_name", Kind::endpointslice, "metadata.name"},
    {"endpointslice_address_type", Kind::endpointslice, "addressType"},
    {"endpointslice_endpoint_conditions_ready", Kind::endpointslice,
     "endpoints[*].conditions.ready"},
    {"endpointslice_endpoint_conditions_serving", Kind::endpointslice,
     "endpoints[*].conditions.serving"},
    {"endpointslice_endpoint_conditions_terminating", Kind::endpointslice,
     "endpoints[*].conditions.terminating"},
    {"endpointslice_endpoint_hostname", Kind::endpointslice, "endpoints[*].hostname"},
    {"endpointslice_endpoint_node_name", Kind::endpointslice, "endpoints[*].nodeName"},
    {"endpointslice_endpoint_zone", Kind::endpointslice, "endpoints[*].zone"},
    {"endpointslice_endpoint_topology_", Kind::endpointslice,
     "endpoints[*].deprecatedTopology[\"{}\"]"},
    {"endpointslice_endpoint_topology_present_", Kind::endpointslice,
     "endpoints[*].deprecatedTopology[\"{}\"]"},
    {"endpointslice_address_target_kind", Kind::endpointslice, "endpoints[*].targetRef.kind"},
    {"endpointslice_address_target_name", Kind::endpointslice, "endpoints[*].targetRef.name"},
    {"endpointslice_port", Kind::endpointslice, "ports[*].port"},
    {"endpointslice_port_name", Kind::endpointslice, "ports[*].name"},
    {"endpointslice_port_protocol", Kind::endpointslice, "ports[*].protocol"},
    {"endpointslice_port_app_protocol", Kind::endpointslice, "ports[*].appProtocol"},
    {"ingress_name", Kind::ingress, "metadata.name"},
    {"ingress_class_name", Kind::ingress, "spec.ingressClassName"},
    {"ingress_scheme", Kind::ingress, "spec.tls[*].hosts"},
    {"ingress_host", Kind::ingress, "spec.rules[*].host"},
    {"ingress_path", Kind::ingress, "spec.rules[*].http.paths[*].path"},
    {"gateway_namespace", Kind::gateway, "metadata.namespace"},
    {"gateway_name", Kind::gateway, "metadata.name"},
    {"gateway_class_name", Kind::gateway, "spec.gatewayClassName"},
    {"gateway_addresses", Kind::gateway, "status.addresses[*].value"},
    {"gateway_listener_name", Kind::gateway, "spec.listeners[*].name"},
    {"gateway_listener_hostname", Kind::gateway, "spec.listeners[*].hostname"},
    {"gateway_listener_port", Kind::gateway, "spec.listeners[*].port"},
    {"gateway_listener_protocol", Kind::gateway, "spec.listeners[*].protocol"},
    {"httproute_name", Kind::httproute, "metadata.name"},
    {"httproute_hostname", Kind::httproute, "spec.hostnames[*]"},
    {"httproute_scheme", Kind::gateway, "spec.listeners[*].protocol"},
    {"httproute_path", Kind::httproute, "spec.rules[*].matches[*].path.value"},
    {"httproute_path_type", Kind::httproute, "spec.rules[*].matches[*].path.type"},
    {"grpcroute_name", Kind::grpcroute, "metadata.name"},
    {"grpcroute_hostname", Kind::grpcroute, "spec.hostnames[*]"},
    {"grpcroute_scheme", Kind::gateway, "spec.listeners[*].protocol"},
    {"grpcroute_service", Kind::grpcroute, "spec.rules[*].matches[*].method.service"},
    {"grpcroute_method", Kind::grpcroute, "spec.rules[*].matches[*].method.method"},
    {"grpcroute_method_type", Kind::grpcroute, "spec.rules[*].matches[*].method.type"},
    {"tlsroute_name", Kind::tlsroute, "metadata.name"},
    {"tlsroute_hostname", Kind::tlsroute, "spec.hostnames[*]"},
};

// Labels and annotations of these objects ...
constexpr std::pair<std::string_view, Kind> metadata_owners[] = {
    {"node_", Kind::node},
    {"pod_", Kind::pod},
    {"service_", Kind::service},
    {"endpoints_", Kind::endpoints},
    {"endpointslice_", Kind::endpointslice},
    {"ingress_", Kind::ingress},
    {"gateway_", Kind::gateway},
    {"httproute_", Kind::httproute},
    {"grpcroute_", Kind::grpcroute},
    {"tlsroute_", Kind::tlsroute},
    {"namespace_", Kind::namespace_},
};
// ... in these fields.
constexpr std::pair<std::string_view, std::string_view> metadata_families[] = {
    {"label_", "metadata.labels"},
    {"labelpresent_", "metadata.labels"},
    {"annotation_", "metadata.annotations"},
    {"annotationpresent_", "metadata.annotations"},
};

// The fields of `__address__` in each role.
constexpr LabelSource address_sources[] = {
    {"", Kind::node, "status.addresses, status.daemonEndpoints.kubeletEndpoint.Port"},
    {"", Kind::pod, "status.podIP, spec.containers[*].ports[*].containerPort"},
    {"", Kind::service, "metadata.name, metadata.namespace, spec.ports[*].port"},
    {"", Kind::endpoints, "subsets[*].addresses[*].ip, subsets[*].ports[*].port"},
    {"", Kind::endpointslice, "endpoints[*].addresses, ports[*].port"},
    {"", Kind::ingress, "spec.rules[*].host"},
    {"", Kind::gateway, "spec.listeners[*].hostname, spec.listeners[*].port"},
    {"", Kind::httproute, "spec.hostnames[*], and the port of the gateway's listener"},
    {"", Kind::grpcroute, "spec.hostnames[*], and the port of the gateway's listener"},
    {"", Kind::tlsroute, "spec.hostnames[*], and the port of the gateway's listener"},
};
// clang-format on

/// The key at the end of a label's name, as a pattern of its original forms.
std::string pattern_of(std::string_view key) {
    std::string pattern(key);
    std::replace(pattern.begin(), pattern.end(), '_', '?');
    return pattern;
}

std::optional<LabelOrigin> address_origin(Kind own) {
    for (const LabelSource& source : address_sources) {
        if (source.kind == own) return LabelOrigin{own, std::string(source.field)};
    }
    return std::nullopt;
}

std::optional<LabelOrigin> metadata_origin(std::string_view name) {
    for (const auto& [owner, kind] : metadata_owners) {
        if (!name.starts_with(owner)) continue;
        const std::string_view rest = name.substr(owner.size());
        for (const auto& [family, field] : metadata_families) {
            if (!rest.starts_with(family)) continue;
            return LabelOrigin{kind, std::string(field) + "[\"" +
                                         pattern_of(rest.substr(family.size())) + "\"]"};
        }
    }
    return std::nullopt;
}

std::optional<LabelOrigin> listed_origin(std::string_view name) {
    const LabelSource* found = nullptr;
    for (const LabelSource& source : label_sources) {
        const bool family = source.name.ends_with('_');
        if (family ? !name.starts_with(source.name) : name != source.name) continue;
        // "topology_present_" is a family of its own, not a key of "topology_".
        if (!found || source.name.size() > found->name.size()) found = &source;
    }
    if (!found) return std::nullopt;
    std::string field(found->field);
    if (const std::size_t place = field.find("{}"); place != std::string::npos) {
        field.replace(place, 2, pattern_of(name.substr(found->name.size())));
    }
    return LabelOrigin{found->kind, std::move(field)};
}

}  // namespace

std::optional<LabelOrigin> label_origin(std::string_view name, Role role, LabelDialect dialect,
                                        PrometheusVersion version) {
    constexpr std::string_view prefix = "__meta_kubernetes_";
    const Kind own = main_kind(role);
    if (name == "__address__") return address_origin(own);
    if (name == "instance" && role == Role::node) return LabelOrigin{own, "metadata.name"};
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    if (name == "namespace") return LabelOrigin{own, "metadata.namespace"};
    if (auto origin = metadata_origin(name)) return origin;
    const bool of_endpoint = role == Role::endpoints && name == "pod_container_port_protocol" &&
                             detail::rules_of(dialect).container_port_has_protocol_of_endpoint;
    if (of_endpoint) name = "endpoint_port_protocol";
    if (name == "service_loadbalancer_ip" &&
        detail::version_rules_of({dialect, version}).reads_load_balancer_status) {
        return LabelOrigin{Kind::service, "status.loadBalancer.ingress[*].ip, spec.loadBalancerIP"};
    }
    return listed_origin(name);
}

}  // namespace k8s_sd::inline v0
