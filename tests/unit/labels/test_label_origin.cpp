#include "k8s_sd/labels.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

using k8s_sd::Role;

namespace {

/// "Pod spec.nodeName", or "".
std::string origin(std::string_view name, Role role = Role::pod) {
    const auto found = k8s_sd::label_origin(name, role);
    if (!found) return {};
    return std::string(resource_of(found->kind).kind) + " " + found->field;
}

}  // namespace

TEST_CASE("label_origin: a label names the kind of object and the field") {
    CHECK(origin("__meta_kubernetes_pod_node_name") == "Pod spec.nodeName");
    CHECK(origin("__meta_kubernetes_node_name") == "Node metadata.name");
    CHECK(origin("__meta_kubernetes_pod_deployment_name") ==
          "ReplicaSet metadata.ownerReferences[controller=true].name");
    CHECK(origin("__meta_kubernetes_endpointslice_port", Role::endpointslice) ==
          "EndpointSlice ports[*].port");
}

TEST_CASE("label_origin: address and namespace are of the role's own object") {
    CHECK(origin("__address__", Role::ingress) == "Ingress spec.rules[*].host");
    CHECK(origin("__address__", Role::service) ==
          "Service metadata.name, metadata.namespace, spec.ports[*].port");
    CHECK(origin("__meta_kubernetes_namespace", Role::endpoints) == "Endpoints metadata.namespace");
    CHECK(origin("instance", Role::node) == "Node metadata.name");
    CHECK(origin("instance", Role::pod).empty());
}

TEST_CASE("label_origin: behind an endpoint a port has the protocol that the dialect gives it") {
    const std::string name = "__meta_kubernetes_pod_container_port_protocol";
    const auto origin_in = [&](Role role, k8s_sd::LabelDialect dialect) {
        const auto found = k8s_sd::label_origin(name, role, dialect);
        return std::string(resource_of(found->kind).kind) + " " + found->field;
    };
    using enum k8s_sd::LabelDialect;
    CHECK(origin_in(Role::endpoints, prometheus) == "Endpoints subsets[*].ports[*].protocol");
    for (const auto& [role, dialect] :
         {std::pair(Role::endpoints, victoriametrics), std::pair(Role::endpointslice, prometheus),
          std::pair(Role::pod, prometheus)}) {
        CHECK(origin_in(role, dialect) == "Pod spec.containers[*].ports[*].protocol");
    }
}

TEST_CASE("label_origin: of a key that became part of a name it says what is known") {
    CHECK(origin("__meta_kubernetes_node_label_zone") == "Node metadata.labels[\"zone\"]");
    CHECK(origin("__meta_kubernetes_pod_labelpresent_app_kubernetes_io_name") ==
          "Pod metadata.labels[\"app?kubernetes?io?name\"]");
    CHECK(origin("__meta_kubernetes_namespace_annotationpresent_a") ==
          "Namespace metadata.annotations[\"a\"]");
    CHECK(origin("__meta_kubernetes_node_address_InternalIP", Role::node) ==
          "Node status.addresses[type=InternalIP].address");
    CHECK(origin("__meta_kubernetes_node_condition_ready", Role::node) ==
          "Node status.conditions[type=ready].status");
    CHECK(origin("__meta_kubernetes_endpointslice_endpoint_topology_zone") ==
          "EndpointSlice endpoints[*].deprecatedTopology[\"zone\"]");
    CHECK(origin("__meta_kubernetes_endpointslice_endpoint_topology_present_zone") ==
          "EndpointSlice endpoints[*].deprecatedTopology[\"zone\"]");
    CHECK(origin("__meta_kubernetes_pod_label_") == "Pod metadata.labels[\"\"]");
}

TEST_CASE("label_origin: the IP of a load balancer comes from the status since 3.15") {
    const auto field = [](k8s_sd::PrometheusVersion version) {
        return k8s_sd::label_origin("__meta_kubernetes_service_loadbalancer_ip", Role::service,
                                    k8s_sd::LabelDialect::prometheus, version)
            ->field;
    };
    CHECK(field(k8s_sd::PrometheusVersion::v3_14) == "spec.loadBalancerIP");
    CHECK(field(k8s_sd::PrometheusVersion::v3_15) ==
          "status.loadBalancer.ingress[*].ip, spec.loadBalancerIP");
}

TEST_CASE("label_origin: other names come from nowhere") {
    for (const char* name : {"", "job", "__meta_kubernetes_", "__meta_kubernetes_pod",
                             "__meta_kubernetes_pod_", "__meta_kubernetes_pod_nam",
                             "__meta_kubernetes_pod_name_", "__meta_dns_name", "pod_name"}) {
        CAPTURE(name);
        CHECK(origin(name).empty());
    }
}
