#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <vector>

/// Small Kubernetes objects for tests, in the form of a server's input.
namespace k8s_sd::test {

using Strings = std::map<std::string, std::string>;

inline boost::json::object to_json(const Strings& strings) {
    boost::json::object object;
    for (const auto& [key, value] : strings) object[key] = value;
    return object;
}

inline boost::json::object metadata(const std::string& ns, const std::string& name,
                                    const Strings& labels = {}, const std::string& uid = {}) {
    boost::json::object meta{{"name", name}};
    if (!ns.empty()) meta["namespace"] = ns;
    if (!labels.empty()) meta["labels"] = to_json(labels);
    if (!uid.empty()) meta["uid"] = uid;
    return meta;
}

inline boost::json::object with_controller(boost::json::object object, const std::string& kind,
                                           const std::string& name) {
    object["metadata"].as_object()["ownerReferences"] =
        boost::json::array{boost::json::object{{"apiVersion", "v1"},
                                               {"kind", kind},
                                               {"name", name},
                                               {"uid", kind + name},
                                               {"controller", true}}};
    return object;
}

struct PodSpec {
    std::string name{};
    std::string ns = "default";
    std::string ip = "10.0.0.1";  ///< empty: none yet
    std::string node = "n1";
    Strings labels{};
    std::string uid{};
    std::string phase = "Running";
    std::string probe_time{};  ///< affects no label
};
inline boost::json::object pod(const PodSpec& spec) {
    boost::json::object status{{"phase", spec.phase}, {"hostIP", "192.168.0.1"}};
    if (!spec.ip.empty()) {
        status["podIP"] = spec.ip;
        status["podIPs"] = boost::json::array{boost::json::object{{"ip", spec.ip}}};
    }
    status["conditions"] = boost::json::array{boost::json::object{
        {"type", "Ready"}, {"status", "True"}, {"lastProbeTime", spec.probe_time}}};
    return {{"kind", "Pod"},
            {"apiVersion", "v1"},
            {"metadata", metadata(spec.ns, spec.name, spec.labels, spec.uid)},
            {"spec",
             boost::json::object{
                 {"nodeName", spec.node},
                 {"containers",
                  boost::json::array{boost::json::object{
                      {"name", "main"},
                      {"image", "app:1"},
                      {"ports",
                       boost::json::array{boost::json::object{
                           {"name", "http"}, {"containerPort", 8080}, {"protocol", "TCP"}}}}}}}}},
            {"status", std::move(status)}};
}

inline boost::json::object node(const std::string& name, const Strings& labels = {},
                                const std::string& heartbeat = {}) {
    return {
        {"kind", "Node"},
        {"apiVersion", "v1"},
        {"metadata", metadata("", name, labels)},
        {"status",
         boost::json::object{
             {"addresses", boost::json::array{boost::json::object{{"type", "InternalIP"},
                                                                  {"address", "192.168.0.1"}}}},
             {"conditions",
              boost::json::array{boost::json::object{
                  {"type", "Ready"}, {"status", "True"}, {"lastHeartbeatTime", heartbeat}}}},
             {"daemonEndpoints",
              boost::json::object{{"kubeletEndpoint", boost::json::object{{"Port", 10250}}}}}}}};
}

inline boost::json::object service(const std::string& name, const Strings& labels = {},
                                   const std::string& ns = "default") {
    return {{"kind", "Service"},
            {"apiVersion", "v1"},
            {"metadata", metadata(ns, name, labels)},
            {"spec", boost::json::object{
                         {"type", "ClusterIP"},
                         {"clusterIP", "10.96.0.1"},
                         {"ports", boost::json::array{boost::json::object{
                                       {"name", "http"}, {"port", 80}, {"protocol", "TCP"}}}}}}};
}

/// An address of a pod, or without a pod if `pod` is empty.
struct Address {
    std::string ip{};
    std::string pod{};
    std::string node = "n1";
};

inline boost::json::object target_ref(const Address& address, const std::string& ns) {
    return {{"kind", "Pod"}, {"name", address.pod}, {"namespace", ns}};
}

inline boost::json::object slice(const std::string& name, const std::string& service,
                                 const std::vector<Address>& addresses,
                                 const std::string& ns = "default") {
    boost::json::array endpoints;
    for (const Address& address : addresses) {
        boost::json::object endpoint{{"addresses", boost::json::array{address.ip}},
                                     {"conditions", boost::json::object{{"ready", true}}},
                                     {"nodeName", address.node}};
        if (!address.pod.empty()) endpoint["targetRef"] = target_ref(address, ns);
        endpoints.push_back(std::move(endpoint));
    }
    return {{"kind", "EndpointSlice"},
            {"apiVersion", "discovery.k8s.io/v1"},
            {"metadata", metadata(ns, name, {{"kubernetes.io/service-name", service}})},
            {"addressType", "IPv4"},
            {"endpoints", std::move(endpoints)},
            {"ports", boost::json::array{boost::json::object{
                          {"name", "http"}, {"port", 8080}, {"protocol", "TCP"}}}}};
}

inline boost::json::object endpoints(const std::string& service,
                                     const std::vector<Address>& addresses,
                                     const std::string& ns = "default") {
    boost::json::array ready;
    for (const Address& address : addresses) {
        boost::json::object entry{{"ip", address.ip}, {"nodeName", address.node}};
        if (!address.pod.empty()) entry["targetRef"] = target_ref(address, ns);
        ready.push_back(std::move(entry));
    }
    return {
        {"kind", "Endpoints"},
        {"apiVersion", "v1"},
        {"metadata", metadata(ns, service)},
        {"subsets", boost::json::array{boost::json::object{
                        {"addresses", std::move(ready)},
                        {"ports", boost::json::array{boost::json::object{
                                      {"name", "http"}, {"port", 8080}, {"protocol", "TCP"}}}}}}}};
}

inline boost::json::object ingress(const std::string& name, const std::string& host,
                                   const std::string& ns = "default") {
    return {{"kind", "Ingress"},
            {"apiVersion", "networking.k8s.io/v1"},
            {"metadata", metadata(ns, name)},
            {"spec",
             boost::json::object{
                 {"rules",
                  boost::json::array{boost::json::object{
                      {"host", host},
                      {"http", boost::json::object{
                                   {"paths", boost::json::array{boost::json::object{
                                                 {"path", "/"}, {"pathType", "Prefix"}}}}}}}}}}}};
}

inline boost::json::object namespace_object(const std::string& name, const Strings& labels = {}) {
    return {{"kind", "Namespace"}, {"apiVersion", "v1"}, {"metadata", metadata("", name, labels)}};
}

/// \param deployment  the controller; empty: none
inline boost::json::object replica_set(const std::string& name, const std::string& deployment,
                                       const std::string& ns = "default") {
    boost::json::object object{
        {"kind", "ReplicaSet"}, {"apiVersion", "apps/v1"}, {"metadata", metadata(ns, name)}};
    return deployment.empty() ? object
                              : with_controller(std::move(object), "Deployment", deployment);
}

/// \param cron_job  the controller; empty: none
inline boost::json::object job(const std::string& name, const std::string& cron_job,
                               const std::string& ns = "default") {
    boost::json::object object{
        {"kind", "Job"}, {"apiVersion", "batch/v1"}, {"metadata", metadata(ns, name)}};
    return cron_job.empty() ? object : with_controller(std::move(object), "CronJob", cron_job);
}

}  // namespace k8s_sd::test
