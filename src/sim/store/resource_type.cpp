#include "sim/store/resource_type.hpp"

#include "k8s_sd/kind.hpp"
#include "sim/store/lower_case.hpp"

#include <algorithm>
#include <array>
#include <vector>

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
    R"(,"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},)"
    R"("status":{})";

/// The properties of a built-in kind in addition to its row in `resources`.
struct Extras {
    Kind kind;
    std::string_view short_name;
    std::span<const std::string_view> fields;
    std::string_view zero_value;
};
constexpr std::array<Extras, 12> extras{{
    {Kind::node, "no", node_fields, node_zero},
    {Kind::pod, "po", pod_fields, R"(,"spec":{"containers":null},"status":{})"},
    {Kind::service, "svc", service_fields, R"(,"spec":{},"status":{"loadBalancer":{}})"},
    {Kind::endpoints, "ep", {}, ""},
    {Kind::endpointslice, "", {}, R"(,"addressType":"","endpoints":null,"ports":null)"},
    {Kind::ingress, "ing", {}, R"(,"spec":{},"status":{"loadBalancer":{}})"},
    {Kind::namespace_, "ns", namespace_fields, R"(,"spec":{},"status":{})"},
    {Kind::replicaset, "rs", replicaset_fields,
     R"(,"spec":{"selector":null},"status":{"replicas":0})"},
    {Kind::job, "", job_fields,
     R"(,"spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{})"},
    {Kind::secret, "", secret_fields, ""},
    {Kind::configmap, "cm", {}, ""},
    {Kind::gateway, "gtw", {}, ""},
}};

/// Further resources of clusters: the workloads of the shop, the Leases of fleet members, and
/// resources in older versions of their API groups than the library watches.
constexpr std::array<ResourceType, 6> others{{
    {"Deployment", "apps", "v1", "deployments", "deployment", "deploy", true, {}, template_zero},
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
    {"CronJob",
     "batch",
     "v1",
     "cronjobs",
     "cronjob",
     "cj",
     true,
     {},
     R"(,"spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{}}},"status":{})"},
    {"Lease",
     "coordination.k8s.io",
     "v1",
     "leases",
     "lease",
     "",
     true,
     {},
     R"(,"spec":{})",
     false,
     true},
    {"NetworkPolicy",
     "networking.k8s.io",
     "v1",
     "networkpolicies",
     "networkpolicy",
     "netpol",
     true,
     {},
     R"(,"spec":{"podSelector":{}})"},
}};

/// Every kind watched by the library, and the others.
std::vector<ResourceType> make_table() {
    static std::array<std::string, kind_count> singulars;
    std::vector<ResourceType> table;
    for (std::size_t i = 0; i < kind_count; ++i) {
        const Resource& r = resources[i];
        singulars[i] = lower_case(r.kind);
        table.push_back(
            {r.kind, r.group, r.version, r.plural, singulars[i], {}, r.namespaced, {}, {}});
        table.back().custom = r.group == resource_of(Kind::gateway).group;
    }
    for (const Extras& e : extras) {
        ResourceType& type = table[static_cast<std::size_t>(e.kind)];
        type.short_name = e.short_name;
        type.fields = e.fields;
        type.zero_value = e.zero_value;
    }
    table.insert(table.end(), others.begin(), others.end());
    return table;
}

}  // namespace

std::span<const ResourceType> resource_types() {
    static const std::vector<ResourceType> all = make_table();
    return all;
}

}  // namespace k8s_sd::inline v0::sim
