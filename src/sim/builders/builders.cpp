#include "k8s_sd/sim/builders.hpp"

#include "k8s_sd/detail/text/base64.hpp"
#include "sim/builders/json_members.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

void add_port(json::object& parent, std::string_view key, std::string_view name,
              unsigned short number, std::string_view protocol) {
    json::object added{{key, number}, {"protocol", protocol}};
    if (!name.empty()) added["name"] = name;
    array_in(parent, "ports").emplace_back(std::move(added));
}

json::array ready_condition(bool ready) {
    return {json::object{{"type", "Ready"}, {"status", ready ? "True" : "False"}}};
}

json::object reference_to_pod(const json::value& ns, std::string_view name,
                              std::string_view uid = {}) {
    json::object reference{{"kind", "Pod"}, {"namespace", ns}, {"name", name}};
    if (!uid.empty()) reference["uid"] = uid;
    return reference;
}

json::object& rule_of(json::array& rules, std::string_view host) {
    for (json::value& rule : rules) {
        const json::value* known = rule.as_object().if_contains("host");
        if ((known ? std::string_view(known->as_string()) : "") == host) return rule.as_object();
    }
    rules.emplace_back(json::object());
    json::object& added = rules.back().as_object();
    if (!host.empty()) added["host"] = host;
    return added;
}

}  // namespace

ObjectBuilder::ObjectBuilder(std::string_view api_version, std::string_view kind,
                             std::string_view ns, std::string_view name)
    : object_{
          {"kind", kind}, {"apiVersion", api_version}, {"metadata", json::object{{"name", name}}}} {
    if (!ns.empty()) metadata()["namespace"] = ns;
}

json::object& ObjectBuilder::part(std::string_view name) { return object_in(object_, name); }

void ObjectBuilder::set_metadata(std::string_view map, std::string_view key,
                                 std::string_view value) {
    object_in(metadata(), map)[key] = value;
}

void ObjectBuilder::set_controller(std::string_view kind, std::string_view name) {
    const bool is_batch = kind == "Job" || kind == "CronJob";
    metadata()["ownerReferences"] =
        json::array{json::object{{"apiVersion", is_batch ? "batch/v1" : "apps/v1"},
                                 {"kind", kind},
                                 {"name", name},
                                 {"uid", std::string(kind) + "-" + std::string(name)},
                                 {"controller", true}}};
}

// ---- Pods -----------------------------------------------------------------------------------

PodBuilder::PodBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("v1", "Pod", ns, name) {
    phase("Running").ready(false);
    array_in(spec(), "containers");
}
PodBuilder& PodBuilder::ip(std::string_view ip) {
    status()["podIP"] = ip;
    status()["podIPs"] = json::array{json::object{{"ip", ip}}};
    return *this;
}
PodBuilder& PodBuilder::host_ip(std::string_view ip) {
    status()["hostIP"] = ip;
    return *this;
}
PodBuilder& PodBuilder::node(std::string_view name) {
    spec()["nodeName"] = name;
    return *this;
}
PodBuilder& PodBuilder::phase(std::string_view phase) {
    status()["phase"] = phase;
    return *this;
}
PodBuilder& PodBuilder::ready(bool ready) {
    status()["conditions"] = ready_condition(ready);
    return *this;
}
PodBuilder& PodBuilder::add_container(std::string_view list, std::string_view name,
                                      std::string_view image, unsigned short port_number) {
    last_list_ = list;
    array_in(spec(), list).push_back(json::object{{"name", name}, {"image", image}});
    return port_number == 0 ? *this : port({}, port_number);
}
PodBuilder& PodBuilder::container(std::string_view name, std::string_view image,
                                  unsigned short port_number) {
    return add_container("containers", name, image, port_number);
}
PodBuilder& PodBuilder::init_container(std::string_view name, std::string_view image,
                                       unsigned short port_number) {
    return add_container("initContainers", name, image, port_number);
}
json::object& PodBuilder::last() {
    return last_in(spec(), last_list_, "a pod has no container yet");
}
PodBuilder& PodBuilder::port(std::string_view name, unsigned short number,
                             std::string_view protocol) {
    add_port(last(), "containerPort", name, number, protocol);
    return *this;
}
PodBuilder& PodBuilder::container_id(std::string_view id) {
    const json::value name = last().at("name");
    json::object running{{"name", name},
                         {"state", json::object{{"running", json::object()}}},
                         {"ready", true},
                         {"restartCount", 0},
                         {"image", last().at("image")},
                         {"imageID", ""},
                         {"containerID", id}};
    const bool init = last_list_ == "initContainers";
    json::array& known = array_in(status(), init ? "initContainerStatuses" : "containerStatuses");
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](const json::value& s) { return s.at("name") == name; });
    if (same == known.end()) {
        known.push_back(std::move(running));
    } else {
        *same = std::move(running);
    }
    return *this;
}
PodBuilder pod(std::string_view ns, std::string_view name) { return {ns, name}; }

// ---- Services -------------------------------------------------------------------------------

ServiceBuilder::ServiceBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("v1", "Service", ns, name) {
    type("ClusterIP").cluster_ip("10.96.0.1");
}
ServiceBuilder& ServiceBuilder::type(std::string_view type) {
    spec()["type"] = type;
    return *this;
}
ServiceBuilder& ServiceBuilder::cluster_ip(std::string_view ip) {
    spec()["clusterIP"] = ip;
    spec()["clusterIPs"] = json::array{json::value(ip)};
    return *this;
}
ServiceBuilder& ServiceBuilder::external_name(std::string_view name) {
    spec()["externalName"] = name;
    spec().erase("clusterIP");
    spec().erase("clusterIPs");
    return type("ExternalName");
}
ServiceBuilder& ServiceBuilder::port(std::string_view name, unsigned short number,
                                     std::string_view protocol) {
    add_port(spec(), "port", name, number, protocol);
    return *this;
}
ServiceBuilder& ServiceBuilder::selector(std::string_view key, std::string_view value) {
    object_in(spec(), "selector")[key] = value;
    return *this;
}
ServiceBuilder service(std::string_view ns, std::string_view name) { return {ns, name}; }

// ---- EndpointSlices -------------------------------------------------------------------------

EndpointSliceBuilder::EndpointSliceBuilder(std::string_view ns, std::string_view name,
                                           std::string_view service)
    : MetadataBuilder("discovery.k8s.io/v1", "EndpointSlice", ns, name) {
    label("kubernetes.io/service-name", service).address_type("IPv4");
    array_in(root(), "endpoints");
    array_in(root(), "ports");
}
EndpointSliceBuilder& EndpointSliceBuilder::address_type(std::string_view type) {
    root()["addressType"] = type;
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::port(std::string_view name, unsigned short number,
                                                 std::string_view protocol) {
    add_port(root(), "port", name, number, protocol);
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::endpoint(std::string_view address) {
    array_in(root(), "endpoints")
        .push_back(json::object{{"addresses", json::array{json::value(address)}}});
    return ready();
}
json::object& EndpointSliceBuilder::last() {
    return last_in(root(), "endpoints", "an EndpointSlice has no endpoint yet");
}
EndpointSliceBuilder& EndpointSliceBuilder::condition(std::string_view name, bool value) {
    object_in(last(), "conditions")[name] = value;
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::ready(bool value) { return condition("ready", value); }
EndpointSliceBuilder& EndpointSliceBuilder::serving(bool value) {
    return condition("serving", value);
}
EndpointSliceBuilder& EndpointSliceBuilder::terminating(bool value) {
    return condition("terminating", value);
}
EndpointSliceBuilder& EndpointSliceBuilder::zone(std::string_view zone) {
    last()["zone"] = zone;
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::hint(std::string_view zone) {
    array_in(object_in(last(), "hints"), "forZones").push_back(json::object{{"name", zone}});
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::hostname(std::string_view name) {
    last()["hostname"] = name;
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::node(std::string_view name) {
    last()["nodeName"] = name;
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::pod(std::string_view name, std::string_view uid) {
    last()["targetRef"] = reference_to_pod(metadata()["namespace"], name, uid);
    return *this;
}
EndpointSliceBuilder endpoint_slice(std::string_view ns, std::string_view name,
                                    std::string_view service) {
    return {ns, name, service};
}

// ---- Endpoints ------------------------------------------------------------------------------

EndpointsBuilder::EndpointsBuilder(std::string_view ns, std::string_view service)
    : MetadataBuilder("v1", "Endpoints", ns, service) {}
json::object& EndpointsBuilder::subset() {
    json::array& subsets = array_in(root(), "subsets");
    if (subsets.empty()) subsets.emplace_back(json::object());
    return subsets.front().as_object();
}
EndpointsBuilder& EndpointsBuilder::port(std::string_view name, unsigned short number,
                                         std::string_view protocol) {
    add_port(subset(), "port", name, number, protocol);
    return *this;
}
EndpointsBuilder& EndpointsBuilder::address(std::string_view ip, bool ready) {
    last_list_ = ready ? "addresses" : "notReadyAddresses";
    array_in(subset(), last_list_).push_back(json::object{{"ip", ip}});
    return *this;
}
json::object& EndpointsBuilder::last() {
    if (last_list_.empty()) throw std::logic_error("Endpoints have no address yet");
    return array_in(subset(), last_list_).back().as_object();
}
EndpointsBuilder& EndpointsBuilder::hostname(std::string_view name) {
    last()["hostname"] = name;
    return *this;
}
EndpointsBuilder& EndpointsBuilder::node(std::string_view name) {
    last()["nodeName"] = name;
    return *this;
}
EndpointsBuilder& EndpointsBuilder::pod(std::string_view name) {
    last()["targetRef"] = reference_to_pod(metadata()["namespace"], name);
    return *this;
}
EndpointsBuilder endpoints(std::string_view ns, std::string_view service) { return {ns, service}; }

// ---- Ingresses ------------------------------------------------------------------------------

IngressBuilder::IngressBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("networking.k8s.io/v1", "Ingress", ns, name) {
    spec();
}
IngressBuilder& IngressBuilder::class_name(std::string_view name) {
    spec()["ingressClassName"] = name;
    return *this;
}
IngressBuilder& IngressBuilder::path(std::string_view host, std::string_view path,
                                     std::string_view service, unsigned short port) {
    const json::object backend{{"name", service}, {"port", json::object{{"number", port}}}};
    json::object& rule = rule_of(array_in(spec(), "rules"), host);
    array_in(object_in(rule, "http"), "paths")
        .push_back(json::object{{"path", path},
                                {"pathType", "Prefix"},
                                {"backend", json::object{{"service", backend}}}});
    return *this;
}
IngressBuilder& IngressBuilder::tls(std::string_view host, std::string_view secret) {
    array_in(spec(), "tls")
        .push_back(json::object{{"hosts", json::array{json::value(host)}}, {"secretName", secret}});
    return *this;
}
IngressBuilder ingress(std::string_view ns, std::string_view name) { return {ns, name}; }

// ---- Nodes and namespaces -------------------------------------------------------------------

NodeBuilder::NodeBuilder(std::string_view name) : MetadataBuilder("v1", "Node", {}, name) {
    ready().kubelet_port(10250);
}
NodeBuilder& NodeBuilder::address(std::string_view address, std::string_view type) {
    array_in(status(), "addresses").push_back(json::object{{"type", type}, {"address", address}});
    return *this;
}
NodeBuilder& NodeBuilder::kubelet_port(unsigned short port) {
    status()["daemonEndpoints"] = json::object{{"kubeletEndpoint", json::object{{"Port", port}}}};
    return *this;
}
NodeBuilder& NodeBuilder::provider_id(std::string_view id) {
    spec()["providerID"] = id;
    return *this;
}
NodeBuilder& NodeBuilder::ready(bool ready) {
    status()["conditions"] = ready_condition(ready);
    return *this;
}
NodeBuilder node(std::string_view name) { return NodeBuilder(name); }

NamespaceBuilder::NamespaceBuilder(std::string_view name)
    : MetadataBuilder("v1", "Namespace", {}, name) {
    label("kubernetes.io/metadata.name", name);
    status()["phase"] = "Active";
}
NamespaceBuilder namespace_(std::string_view name) { return NamespaceBuilder(name); }

// ---- ReplicaSets and Jobs -------------------------------------------------------------------

ReplicaSetBuilder::ReplicaSetBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("apps/v1", "ReplicaSet", ns, name) {}
ReplicaSetBuilder replica_set(std::string_view ns, std::string_view name) { return {ns, name}; }

JobBuilder::JobBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("batch/v1", "Job", ns, name) {}
JobBuilder job(std::string_view ns, std::string_view name) { return {ns, name}; }

// ---- Secrets and ConfigMaps -----------------------------------------------------------------

SecretBuilder::SecretBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("v1", "Secret", ns, name) {
    type("Opaque");
}
SecretBuilder& SecretBuilder::type(std::string_view type) {
    root()["type"] = type;
    return *this;
}
SecretBuilder& SecretBuilder::data(std::string_view key, std::string_view value) {
    part("data")[key] = detail::encode_base64(value);
    return *this;
}
SecretBuilder& SecretBuilder::immutable(bool value) {
    root()["immutable"] = value;
    return *this;
}
SecretBuilder secret(std::string_view ns, std::string_view name) { return {ns, name}; }

ConfigMapBuilder::ConfigMapBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("v1", "ConfigMap", ns, name) {}
ConfigMapBuilder& ConfigMapBuilder::data(std::string_view key, std::string_view value) {
    part("data")[key] = value;
    return *this;
}
ConfigMapBuilder& ConfigMapBuilder::immutable(bool value) {
    root()["immutable"] = value;
    return *this;
}
ConfigMapBuilder config_map(std::string_view ns, std::string_view name) { return {ns, name}; }

}  // namespace k8s_sd::inline v0::sim
