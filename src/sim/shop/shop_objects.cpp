#include "sim/shop/shop_objects.hpp"

#include <boost/json/array.hpp>

namespace k8s_sd::inline v0::sim::shop {
namespace {

json::object strings(const StringMap& map) {
    json::object result;
    for (const auto& [key, value] : map) result[key] = value;
    return result;
}

json::object metadata(const std::string& ns, const std::string& name, const std::string& uid,
                      const std::string& created, const StringMap& labels,
                      const StringMap& annotations = {}) {
    json::object result{{"name", name}};
    if (!ns.empty()) result["namespace"] = ns;
    if (!uid.empty()) result["uid"] = uid;
    result["creationTimestamp"] = created;
    if (!labels.empty()) result["labels"] = strings(labels);
    if (!annotations.empty()) result["annotations"] = strings(annotations);
    return result;
}

json::array owned_by(std::string_view api_version, const std::string& kind, const std::string& name,
                     const std::string& uid) {
    return {json::object{{"apiVersion", api_version},
                         {"kind", kind},
                         {"name", name},
                         {"uid", uid},
                         {"controller", true},
                         {"blockOwnerDeletion", true}}};
}

std::string api_version_of(const std::string& kind) {
    return kind == "Job" || kind == "CronJob" ? "batch/v1" : "apps/v1";
}

json::object condition(std::string_view type, bool status) {
    return {{"type", type}, {"status", status ? "True" : "False"}};
}

json::array container_ports(const Workload& w) {
    json::array ports;
    for (const Port& p : w.ports) {
        json::object port{{"name", p.name}, {"containerPort", p.number}, {"protocol", p.protocol}};
        if (w.host_network) port["hostPort"] = p.number;
        ports.push_back(std::move(port));
    }
    return ports;
}

json::object container_status(const Workload& w, const Pod& pod) {
    json::object state;
    if (!pod.waiting_reason.empty()) {
        state["waiting"] = json::object{{"reason", pod.waiting_reason}};
    } else if (pod.phase == "Succeeded") {
        state["terminated"] = json::object{{"exitCode", 0}, {"reason", "Completed"}};
    } else {
        state["running"] = json::object{{"startedAt", pod.created}};
    }
    return {{"name", w.name},
            {"state", std::move(state)},
            {"ready", pod.ready},
            {"restartCount", pod.restarts},
            {"image", pod.image},
            {"imageID", "docker.io/" + pod.image},
            {"containerID", "containerd://" + pod.uid},
            {"started", pod.phase == "Running"}};
}

json::object pod_status(const Workload& w, const Pod& pod) {
    json::object status{
        {"phase", pod.phase},
        {"conditions", json::array{condition("Initialized", true), condition("Ready", pod.ready),
                                   condition("ContainersReady", pod.ready),
                                   condition("PodScheduled", pod.node != nullptr)}}};
    if (pod.node) status["hostIP"] = pod.node->ip;
    if (!pod.ip.empty()) {
        status["podIP"] = pod.ip;
        status["podIPs"] = json::array{json::object{{"ip", pod.ip}}};
        status["startTime"] = pod.created;
        status["containerStatuses"] = json::array{container_status(w, pod)};
    }
    status["qosClass"] = "Burstable";
    return status;
}

StringMap app_labels(const Workload& w) {
    return {{"app.kubernetes.io/name", w.name}, {"app.kubernetes.io/part-of", w.ns}};
}

json::object selector(const Workload& w) { return {{"app.kubernetes.io/name", w.name}}; }

int ready_pods(const Workload& w) {
    int count = 0;
    for (const Pod& pod : w.pods) count += pod.ready && !pod.terminating() ? 1 : 0;
    return count;
}

json::object pod_template(const Workload& w) {
    const std::string image = "registry.example.com/" + w.name + ":v" + std::to_string(w.version);
    return {{"metadata", json::object{{"labels", strings(app_labels(w))}}},
            {"spec", json::object{{"containers",
                                   json::array{json::object{{"name", w.name},
                                                            {"image", image},
                                                            {"ports", container_ports(w)}}}}}}};
}

json::object target_ref(const Workload& w, const Pod& pod) {
    return {{"kind", "Pod"}, {"namespace", w.ns}, {"name", pod.name}, {"uid", pod.uid}};
}

}  // namespace

json::object node_object(const Node& node, const std::string& created) {
    StringMap labels = node.labels;
    labels["kubernetes.io/hostname"] = node.name;
    labels["kubernetes.io/os"] = "linux";
    labels["kubernetes.io/arch"] = "amd64";
    labels["topology.kubernetes.io/region"] = "eu-1";
    labels["topology.kubernetes.io/zone"] = node.zone;
    const json::array addresses{json::object{{"type", "InternalIP"}, {"address", node.ip}},
                                json::object{{"type", "Hostname"}, {"address", node.name}}};
    return {
        {"kind", "Node"},
        {"apiVersion", "v1"},
        {"metadata", metadata("", node.name, "", created, labels)},
        {"spec", json::object{{"podCIDR", node.pod_subnet + "0/24"},
                              {"providerID", "sim://" + node.zone + "/" + node.name}}},
        {"status", json::object{{"conditions", json::array{condition("Ready", true)}},
                                {"addresses", addresses},
                                {"daemonEndpoints",
                                 json::object{{"kubeletEndpoint", json::object{{"Port", 10250}}}}},
                                {"nodeInfo", json::object{{"kubeletVersion", "v1.32.0"},
                                                          {"operatingSystem", "linux"},
                                                          {"architecture", "amd64"}}}}}};
}

json::object namespace_object(const std::string& name, const std::string& created) {
    return {{"kind", "Namespace"},
            {"apiVersion", "v1"},
            {"metadata", metadata("", name, "", created,
                                  {{"kubernetes.io/metadata.name", name}, {"team", name}})},
            {"spec", json::object()},
            {"status", json::object{{"phase", "Active"}}}};
}

json::object pod_object(const Workload& w, const Pod& pod) {
    json::object meta = metadata(w.ns, pod.name, pod.uid, pod.created, pod.labels, pod.annotations);
    meta["ownerReferences"] =
        owned_by(api_version_of(pod.owner_kind), pod.owner_kind, pod.owner_name, pod.owner_uid);
    if (pod.terminating()) {
        meta["deletionTimestamp"] = pod.deleted;
        meta["deletionGracePeriodSeconds"] = 30;
    }
    json::object spec{
        {"containers", json::array{json::object{
                           {"name", w.name}, {"image", pod.image}, {"ports", container_ports(w)}}}},
        {"restartPolicy", pod.owner_kind == "Job" ? "Never" : "Always"},
        {"serviceAccountName", "default"},
        {"schedulerName", "default-scheduler"}};
    if (pod.node) spec["nodeName"] = pod.node->name;
    if (w.host_network) spec["hostNetwork"] = true;
    if (w.kind == "StatefulSet") {
        spec["hostname"] = pod.name;
        spec["subdomain"] = w.name;
    }
    return {{"kind", "Pod"},
            {"apiVersion", "v1"},
            {"metadata", std::move(meta)},
            {"spec", std::move(spec)},
            {"status", pod_status(w, pod)}};
}

json::object workload_object(const Workload& w) {
    json::object spec{{"selector", json::object{{"matchLabels", selector(w)}}},
                      {"template", pod_template(w)}};
    json::object status;
    if (w.kind == "DaemonSet") {
        status = {{"desiredNumberScheduled", w.replicas}, {"numberReady", ready_pods(w)}};
    } else {
        spec["replicas"] = w.replicas;
        status = {{"replicas", w.pods.size()}, {"readyReplicas", ready_pods(w)}};
    }
    if (w.kind == "StatefulSet") spec["serviceName"] = w.name;
    return {{"kind", w.kind},
            {"apiVersion", "apps/v1"},
            {"metadata", metadata(w.ns, w.name, w.uid, w.created, app_labels(w))},
            {"spec", std::move(spec)},
            {"status", std::move(status)}};
}

json::object replica_set_object(const Workload& w, const Workload::ReplicaSet& rs) {
    StringMap labels = app_labels(w);
    labels["pod-template-hash"] = rs.hash;
    json::object meta = metadata(w.ns, rs.name, rs.uid, rs.created, labels);
    meta["ownerReferences"] = owned_by("apps/v1", "Deployment", w.name, w.uid);
    int pods = 0;
    for (const Pod& pod : w.pods) pods += pod.owner_uid == rs.uid ? 1 : 0;
    json::object match = selector(w);
    match["pod-template-hash"] = rs.hash;
    return {{"kind", "ReplicaSet"},
            {"apiVersion", "apps/v1"},
            {"metadata", std::move(meta)},
            {"spec", json::object{{"replicas", pods},
                                  {"selector", json::object{{"matchLabels", std::move(match)}}}}},
            {"status", json::object{{"replicas", pods}}}};
}

json::object service_object(const Workload& w) {
    json::array ports;
    for (const Port& p : w.ports) {
        ports.push_back(json::object{{"name", p.name},
                                     {"protocol", p.protocol},
                                     {"port", p.number},
                                     {"targetPort", p.name}});
    }
    StringMap annotations;
    if (!w.scrape_port.empty()) annotations["prometheus.io/scrape"] = "true";
    json::object status{{"loadBalancer", json::object()}};
    if (w.service_type == "LoadBalancer") {
        status["loadBalancer"] =
            json::object{{"ingress", json::array{json::object{{"ip", "203.0.113.10"}}}}};
    }
    return {{"kind", "Service"},
            {"apiVersion", "v1"},
            {"metadata", metadata(w.ns, w.name, "", w.created, app_labels(w), annotations)},
            {"spec", json::object{{"ports", std::move(ports)},
                                  {"selector", selector(w)},
                                  {"clusterIP", w.cluster_ip},
                                  {"clusterIPs", json::array{json::value(w.cluster_ip)}},
                                  {"type", w.service_type},
                                  {"ipFamilies", json::array{"IPv4"}}}},
            {"status", std::move(status)}};
}

json::object endpoints_object(const Workload& w) {
    json::array ready;
    json::array not_ready;
    for (const Pod& pod : w.pods) {
        if (pod.ip.empty() || pod.terminating()) continue;
        json::object address{
            {"ip", pod.ip}, {"nodeName", pod.node->name}, {"targetRef", target_ref(w, pod)}};
        if (w.kind == "StatefulSet") address["hostname"] = pod.name;
        (pod.ready ? ready : not_ready).push_back(std::move(address));
    }
    json::array subsets;
    if (!ready.empty() || !not_ready.empty()) {
        json::object subset;
        if (!ready.empty()) subset["addresses"] = std::move(ready);
        if (!not_ready.empty()) subset["notReadyAddresses"] = std::move(not_ready);
        json::array ports;
        for (const Port& p : w.ports) {
            ports.push_back(
                json::object{{"name", p.name}, {"port", p.number}, {"protocol", p.protocol}});
        }
        subset["ports"] = std::move(ports);
        subsets.push_back(std::move(subset));
    }
    return {{"kind", "Endpoints"},
            {"apiVersion", "v1"},
            {"metadata", metadata(w.ns, w.name, "", w.created, app_labels(w))},
            {"subsets", std::move(subsets)}};
}

json::object endpoint_slice_object(const Workload& w) {
    json::array endpoints;
    for (const Pod& pod : w.pods) {
        if (pod.ip.empty()) continue;
        json::object endpoint{
            {"addresses", json::array{json::value(pod.ip)}},
            {"conditions", json::object{{"ready", pod.ready && !pod.terminating()},
                                        {"serving", pod.ready},
                                        {"terminating", pod.terminating()}}},
            {"targetRef", target_ref(w, pod)},
            {"nodeName", pod.node->name},
            {"zone", pod.node->zone}};
        if (w.kind == "StatefulSet") endpoint["hostname"] = pod.name;
        endpoints.push_back(std::move(endpoint));
    }
    json::array ports;
    for (const Port& p : w.ports) {
        ports.push_back(
            json::object{{"name", p.name}, {"protocol", p.protocol}, {"port", p.number}});
    }
    StringMap labels = app_labels(w);
    labels["kubernetes.io/service-name"] = w.name;
    labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io";
    json::object meta = metadata(w.ns, w.name + "-" + w.uid.substr(0, 5), "", w.created, labels);
    return {{"kind", "EndpointSlice"},           {"apiVersion", "discovery.k8s.io/v1"},
            {"metadata", std::move(meta)},       {"addressType", "IPv4"},
            {"endpoints", std::move(endpoints)}, {"ports", std::move(ports)}};
}

json::object ingress_object(const std::string& ns, const std::string& name, const std::string& host,
                            const std::vector<IngressPath>& paths, const std::string& created) {
    json::array rules;
    for (const IngressPath& p : paths) {
        const json::object port{{"name", p.port}};
        const json::object service{{"name", p.service}, {"port", port}};
        rules.push_back(json::object{{"path", p.path},
                                     {"pathType", "Prefix"},
                                     {"backend", json::object{{"service", service}}}});
    }
    const json::object http{{"paths", std::move(rules)}};
    return {
        {"kind", "Ingress"},
        {"apiVersion", "networking.k8s.io/v1"},
        {"metadata", metadata(ns, name, "", created, {{"app.kubernetes.io/part-of", ns}})},
        {"spec",
         json::object{{"ingressClassName", "nginx"},
                      {"tls", json::array{json::object{{"hosts", json::array{json::value(host)}},
                                                       {"secretName", name + "-tls"}}}},
                      {"rules", json::array{json::object{{"host", host}, {"http", http}}}}}},
        {"status", json::object{{"loadBalancer", json::object()}}}};
}

json::object cron_job_object(const std::string& uid, const std::string& created) {
    return {{"kind", "CronJob"},
            {"apiVersion", "batch/v1"},
            {"metadata", metadata("payments", "report", uid, created, {})},
            {"spec", json::object{{"schedule", "*/5 * * * *"}}},
            {"status", json::object()}};
}

json::object job_object(const std::string& name, const std::string& uid,
                        const std::string& cron_job_uid, const std::string& created, bool done) {
    json::object meta = metadata("payments", name, uid, created, {{"job-name", name}});
    meta["ownerReferences"] = owned_by("batch/v1", "CronJob", "report", cron_job_uid);
    return {{"kind", "Job"},
            {"apiVersion", "batch/v1"},
            {"metadata", std::move(meta)},
            {"spec", json::object{{"completions", 1}, {"parallelism", 1}}},
            {"status", done ? json::object{{"succeeded", 1}} : json::object{{"active", 1}}}};
}

}  // namespace k8s_sd::inline v0::sim::shop
