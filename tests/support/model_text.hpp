#pragma once

#include "k8s_sd/detail/objects/model/data_map.hpp"
#include "k8s_sd/detail/objects/model/endpoint_slice.hpp"
#include "k8s_sd/detail/objects/model/ingress.hpp"
#include "k8s_sd/detail/objects/model/node.hpp"
#include "k8s_sd/detail/objects/model/pod.hpp"
#include "k8s_sd/detail/objects/model/service.hpp"
#include "k8s_sd/kind.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Everything of a model, in words: two are equal if their texts are.
namespace k8s_sd::test {

namespace model = detail::model;

class ModelText {
 public:
    static std::string of(Kind kind, const void* object) {
        ModelText text;
        switch (kind) {
            case Kind::node: text.all(*static_cast<const model::Node*>(object)); break;
            case Kind::pod: text.all(*static_cast<const model::Pod*>(object)); break;
            case Kind::service: text.all(*static_cast<const model::Service*>(object)); break;
            case Kind::endpoints: text.all(*static_cast<const model::Endpoints*>(object)); break;
            case Kind::endpointslice:
                text.all(*static_cast<const model::EndpointSlice*>(object));
                break;
            case Kind::ingress: text.all(*static_cast<const model::Ingress*>(object)); break;
            case Kind::secret:
            case Kind::configmap: text.all(*static_cast<const model::DataMap*>(object)); break;
            default: text.all(static_cast<const model::MetadataOnly*>(object)->meta);
        }
        return text.out_;
    }

 private:
    void all(std::string_view value) { ((out_ += '"') += value) += "\" "; }
    void all(std::int64_t value) { (out_ += std::to_string(value)) += ' '; }
    void all(bool value) { out_ += value ? "true " : "false "; }
    template <class T>
    void all(const std::optional<T>& value) {
        if (!value) out_ += "none ";
        if (value) all(*value);
    }
    template <class A, class B>
    void all(const std::pair<A, B>& pair) {
        all(pair.first);
        all(pair.second);
    }
    template <class T>
    void all(const std::vector<T>& values) {
        out_ += "[ ";
        for (const T& value : values) all(value);
        out_ += "] ";
    }
    template <class... Fields>
    void each(const Fields&... fields) {
        out_ += "{ ";
        (all(fields), ...);
        out_ += "} ";
    }
    void all(const model::Status::Cause& c) { each(c.reason, c.message); }
    void all(const model::Status& s) {
        each(s.code, s.retry_after_seconds, s.message, s.reason, s.causes);
    }
    void all(const model::OwnerReference& o) { each(o.kind, o.name, o.controller); }
    void all(const model::ObjectMeta& m) {
        each(m.kind, m.name, m.ns, m.uid, m.resource_version, m.labels, m.annotations,
             m.owner_references, m.status);
    }
    void all(const model::NodeAddress& a) { each(a.type, a.address); }
    void all(const model::Node& n) { each(n.meta, n.provider_id, n.addresses, n.kubelet_port); }
    void all(const model::ContainerPort& p) { each(p.name, p.protocol, p.number); }
    void all(const model::Container& c) { each(c.name, c.image, c.restart_policy, c.ports); }
    void all(const model::ContainerStatus& s) { each(s.name, s.id, s.terminated); }
    void all(const model::PodCondition& c) { each(c.type, c.status); }
    void all(const model::Pod& p) {
        each(p.meta, p.node_name, p.phase, p.pod_ip, p.host_ip, p.containers, p.init_containers,
             p.container_statuses, p.init_container_statuses, p.conditions);
    }
    void all(const model::ServicePort& p) { each(p.name, p.protocol, p.number); }
    void all(const model::Service& s) {
        each(s.meta, s.type, s.cluster_ip, s.external_name, s.load_balancer_ip, s.ports);
    }
    void all(const model::TargetReference& r) { each(r.present, r.kind, r.ns, r.name); }
    void all(const model::EndpointAddress& a) { each(a.ip, a.hostname, a.node_name, a.target); }
    void all(const model::EndpointPort& p) { each(p.name, p.protocol, p.number); }
    void all(const model::EndpointSubset& s) { each(s.addresses, s.not_ready_addresses, s.ports); }
    void all(const model::Endpoints& e) { each(e.meta, e.subsets); }
    void all(const model::EndpointConditions& c) { each(c.ready, c.serving, c.terminating); }
    void all(const model::Endpoint& e) {
        each(e.addresses, e.conditions, e.hostname, e.node_name, e.zone, e.topology,
             e.deprecated_topology, e.target);
    }
    void all(const model::SlicePort& p) { each(p.name, p.protocol, p.app_protocol, p.number); }
    void all(const model::EndpointSlice& s) { each(s.meta, s.address_type, s.endpoints, s.ports); }
    void all(const model::IngressPath& p) { each(p.path); }
    void all(const model::IngressRule& r) { each(r.host, r.has_http, r.paths); }
    void all(const model::IngressTls& t) { each(t.hosts); }
    void all(const model::Ingress& i) { each(i.meta, i.class_name, i.rules, i.tls); }
    void all(const model::DataMap& d) { each(d.meta, d.type, d.immutable, d.data); }

    std::string out_;
};

}  // namespace k8s_sd::test
