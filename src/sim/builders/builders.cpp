#include "k8s_sd/sim/builders.hpp"

#include "k8s_sd/detail/base/base64.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>
#include <string>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

/// A member that is an object; made where it is missing.
json::object& object_in(json::object& parent, std::string_view name) {
    json::value& value = parent[name];
    if (!value.is_object()) value.emplace_object();
    return value.get_object();
}

/// A member that is an array; made where it is missing.
json::array& array_in(json::object& parent, std::string_view name) {
    json::value& value = parent[name];
    if (!value.is_array()) value.emplace_array();
    return value.get_array();
}

json::object& last_in(json::object& parent, std::string_view list, const char* missing) {
    json::array& items = array_in(parent, list);
    if (items.empty()) throw std::logic_error(missing);
    return items.back().as_object();
}

void add_port(json::object& parent, std::string_view key, std::string_view name,
              unsigned short number, std::string_view protocol) {
    json::object added{{key, number}, {"protocol", protocol}};
    if (!name.empty()) added["name"] = name;
    array_in(parent, "ports").emplace_back(std::move(added));
}

json::array ready_condition(bool ready) {
    return {json::object{{"type", "Ready"}, {"status", ready ? "True" : "False"}}};
}

json::object reference_to_pod(const json::value& ns, std::string_view name) {
    return {{"kind", "Pod"}, {"namespace", ns}, {"name", name}};
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
PodBuilder& PodBuilder::controller(std::string_view kind, std::string_view name) {
    metadata()["ownerReferences"] =
        json::array{json::object{{"apiVersion", kind == "Job" ? "batch/v1" : "apps/v1"},
                                 {"kind", kind},
                                 {"name", name},
                                 {"uid", std::string(kind) + "-" + std::string(name)},
                                 {"controller", true}}};
    return *this;
}
PodBuilder& PodBuilder::container(std::string_view name, std::string_view image,
                                  unsigned short port_number) {
    array_in(spec(), "containers").push_back(json::object{{"name", name}, {"image", image}});
    return port_number == 0 ? *this : port({}, port_number);
}
PodBuilder& PodBuilder::port(std::string_view name, unsigned short number,
                             std::string_view protocol) {
    json::object& last = last_in(spec(), "containers", "a port of a pod without a container");
    add_port(last, "containerPort", name, number, protocol);
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
EndpointSliceBuilder& EndpointSliceBuilder::hostname(std::string_view name) {
    last()["hostname"] = name;
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::node(std::string_view name) {
    last()["nodeName"] = name;
    return *this;
}
EndpointSliceBuilder& EndpointSliceBuilder::pod(std::string_view name) {
    last()["targetRef"] = reference_to_pod(metadata()["namespace"], name);
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
SecretBuilder secret(std::string_view ns, std::string_view name) { return {ns, name}; }

ConfigMapBuilder::ConfigMapBuilder(std::string_view ns, std::string_view name)
    : MetadataBuilder("v1", "ConfigMap", ns, name) {}
ConfigMapBuilder& ConfigMapBuilder::data(std::string_view key, std::string_view value) {
    part("data")[key] = value;
    return *this;
}
ConfigMapBuilder config_map(std::string_view ns, std::string_view name) { return {ns, name}; }

}  // namespace k8s_sd::inline v0::sim
