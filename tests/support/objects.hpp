#pragma once

#include "k8s_sd/sim/builders.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// The objects of most tests: those of the test kit, with defaults.
namespace k8s_sd::test {

using Strings = std::map<std::string, std::string>;

template <class Builder>
boost::json::object with_labels(Builder builder, const Strings& labels) {
    for (const auto& [key, value] : labels) builder.label(key, value);
    return builder;
}

/// Sets the controller of an object in JSON.
inline boost::json::object with_controller(boost::json::object object, const std::string& kind,
                                           const std::string& name) {
    const boost::json::object owned = sim::pod("default", "owned").controller(kind, name);
    object["metadata"].as_object()["ownerReferences"] =
        owned.at("metadata").as_object().at("ownerReferences");
    return object;
}

/// Sets a time in the only condition of an object, without effect on labels.
inline void set_time(boost::json::object& object, const std::string& name,
                     const std::string& time) {
    object["status"].as_object()["conditions"].as_array()[0].as_object()[name] = time;
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
    sim::PodBuilder builder = sim::pod(spec.ns, spec.name);
    builder.phase(spec.phase).host_ip("192.168.0.1").ready().node(spec.node);
    if (!spec.ip.empty()) builder.ip(spec.ip);
    if (!spec.uid.empty()) builder.uid(spec.uid);
    builder.container("main", "app:1").port("http", 8080);
    boost::json::object object = with_labels(std::move(builder), spec.labels);
    if (!spec.probe_time.empty()) set_time(object, "lastProbeTime", spec.probe_time);
    return object;
}

inline boost::json::object node(const std::string& name, const Strings& labels = {},
                                const std::string& heartbeat = {}) {
    boost::json::object object = with_labels(sim::node(name).address("192.168.0.1"), labels);
    if (!heartbeat.empty()) set_time(object, "lastHeartbeatTime", heartbeat);
    return object;
}

inline boost::json::object service(const std::string& name, const Strings& labels = {},
                                   const std::string& ns = "default") {
    return with_labels(sim::service(ns, name).port("http", 80), labels);
}

/// An address of a pod, or without a pod if `pod` is empty.
struct Address {
    std::string ip{};
    std::string pod{};
    std::string node = "n1";
};

inline boost::json::object slice(const std::string& name, const std::string& service,
                                 const std::vector<Address>& addresses,
                                 const std::string& ns = "default") {
    sim::EndpointSliceBuilder builder = sim::endpoint_slice(ns, name, service).port("http", 8080);
    for (const Address& address : addresses) {
        builder.endpoint(address.ip).node(address.node);
        if (!address.pod.empty()) builder.pod(address.pod);
    }
    return builder;
}

inline boost::json::object endpoints(const std::string& service,
                                     const std::vector<Address>& addresses,
                                     const std::string& ns = "default") {
    sim::EndpointsBuilder builder = sim::endpoints(ns, service).port("http", 8080);
    for (const Address& address : addresses) {
        builder.address(address.ip).node(address.node);
        if (!address.pod.empty()) builder.pod(address.pod);
    }
    return builder;
}

inline boost::json::object ingress(const std::string& name, const std::string& host,
                                   const std::string& ns = "default") {
    return sim::ingress(ns, name).path(host, "/", "web", 80);
}

inline boost::json::object namespace_object(const std::string& name, const Strings& labels = {}) {
    return with_labels(sim::namespace_(name), labels);
}

/// \param deployment  the controller; empty: none
inline boost::json::object replica_set(const std::string& name, const std::string& deployment,
                                       const std::string& ns = "default") {
    sim::ReplicaSetBuilder builder = sim::replica_set(ns, name);
    return deployment.empty() ? builder : builder.controller("Deployment", deployment);
}

/// \param cron_job  the controller; empty: none
inline boost::json::object job(const std::string& name, const std::string& cron_job,
                               const std::string& ns = "default") {
    sim::JobBuilder builder = sim::job(ns, name);
    return cron_job.empty() ? builder : builder.controller("CronJob", cron_job);
}

}  // namespace k8s_sd::test
