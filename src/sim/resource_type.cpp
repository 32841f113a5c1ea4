#include "sim/resource_type.hpp"

#include <algorithm>
#include <array>

namespace k8s_sd::inline v0::sim {
namespace {

constexpr std::array<std::string_view, 9> pod_fields{"spec.nodeName",
                                                     "spec.restartPolicy",
                                                     "spec.schedulerName",
                                                     "spec.serviceAccountName",
                                                     "spec.hostNetwork",
                                                     "status.phase",
                                                     "status.podIP",
                                                     "status.podIPs",
                                                     "status.nominatedNodeName"};
constexpr std::array<std::string_view, 1> node_fields{"spec.unschedulable"};
constexpr std::array<std::string_view, 2> service_fields{"spec.clusterIP", "spec.type"};
constexpr std::array<std::string_view, 1> namespace_fields{"status.phase"};
constexpr std::array<std::string_view, 1> secret_fields{"type"};
constexpr std::array<std::string_view, 1> job_fields{"status.successful"};
constexpr std::array<std::string_view, 1> replicaset_fields{"status.replicas"};

constexpr std::string_view node_zero =
    R"(,"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{)"
    R"("machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"",)"
    R"("containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"",)"
    R"("operatingSystem":"","architecture":""}})";
constexpr std::string_view template_zero =
    R"(,"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{})";

constexpr std::array<ResourceType, 15> table{{
    {"Node", "", "v1", "nodes", "node", "no", false, node_fields, node_zero},
    {"Namespace", "", "v1", "namespaces", "namespace", "ns", false, namespace_fields,
     R"(,"spec":{},"status":{})"},
    {"Pod", "", "v1", "pods", "pod", "po", true, pod_fields,
     R"(,"spec":{"containers":null},"status":{})"},
    {"Service", "", "v1", "services", "service", "svc", true, service_fields,
     R"(,"spec":{},"status":{"loadBalancer":{}})"},
    {"Endpoints", "", "v1", "endpoints", "endpoints", "ep", true, {}, ""},
    {"ConfigMap", "", "v1", "configmaps", "configmap", "cm", true, {}, ""},
    {"Secret", "", "v1", "secrets", "secret", "", true, secret_fields, ""},
    {"EndpointSlice",
     "discovery.k8s.io",
     "v1",
     "endpointslices",
     "endpointslice",
     "",
     true,
     {},
     R"(,"addressType":"","endpoints":null,"ports":null)"},
    {"Ingress",
     "networking.k8s.io",
     "v1",
     "ingresses",
     "ingress",
     "ing",
     true,
     {},
     R"(,"spec":{},"status":{"loadBalancer":{}})"},
    {"Deployment", "apps", "v1", "deployments", "deployment", "deploy", true, {}, template_zero},
    {"ReplicaSet", "apps", "v1", "replicasets", "replicaset", "rs", true, replicaset_fields,
     R"(,"spec":{"selector":null},"status":{"replicas":0})"},
    {"StatefulSet",
     "apps",
     "v1",
     "statefulsets",
     "statefulset",
     "sts",
     true,
     {},
     R"(,"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},)"
     R"("serviceName":""},"status":{"replicas":0})"},
    {"DaemonSet", "apps", "v1", "daemonsets", "daemonset", "ds", true, {}, template_zero},
    {"Job", "batch", "v1", "jobs", "job", "", true, job_fields,
     R"(,"spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{})"},
    {"CronJob",
     "batch",
     "v1",
     "cronjobs",
     "cronjob",
     "cj",
     true,
     {},
     R"(,"spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{}}},"status":{})"},
}};

template <class Predicate>
const ResourceType* find(Predicate predicate) {
    const auto found = std::find_if(table.begin(), table.end(), predicate);
    return found == table.end() ? nullptr : &*found;
}

}  // namespace

std::span<const ResourceType> resource_types() { return table; }

const ResourceType* find_by_plural(std::string_view group, std::string_view version,
                                   std::string_view plural) {
    return find([&](const ResourceType& t) {
        return t.group == group && t.version == version && t.plural == plural;
    });
}

const ResourceType* find_by_kind(std::string_view api_version, std::string_view kind) {
    return find(
        [&](const ResourceType& t) { return t.kind == kind && t.api_version() == api_version; });
}

const ResourceType* find_by_name(std::string_view plural_or_kind) {
    return find([&](const ResourceType& t) {
        return t.plural == plural_or_kind || t.kind == plural_or_kind;
    });
}

std::size_t index_of(const ResourceType& type) {
    return static_cast<std::size_t>(&type - table.data());
}

}  // namespace k8s_sd::inline v0::sim
