#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <boost/json/object.hpp>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// A Kubernetes object in one line, for ApiServer::apply(); every builder converts to its argument:
/// \code
///   server.apply(sim::pod("shop", "web-0").ip("10.0.0.1").ready().container("web", "web:1",
///   8080));
/// \endcode
/// A builder has the fields read by service discovery. For other fields convert it to a
/// boost::json::object and modify that. A setter replaces the previous value, unless its
/// documentation says it adds. Setters return a reference to the builder: keep it by value. Not
/// thread-safe. It validates no names and values; apply() does, as far as necessary.
class K8S_SD_EXPORT ObjectBuilder {
 public:
    operator boost::json::object() const { return object_; }

 protected:
    ObjectBuilder(std::string_view api_version, std::string_view kind, std::string_view ns,
                  std::string_view name);

    boost::json::object& root() { return object_; }
    boost::json::object& metadata() { return part("metadata"); }
    boost::json::object& spec() { return part("spec"); }
    boost::json::object& status() { return part("status"); }
    /// A member of object type, created if missing.
    boost::json::object& part(std::string_view name);
    void set_metadata(std::string_view map, std::string_view key, std::string_view value);
    void set_controller(std::string_view kind, std::string_view name);

 private:
    boost::json::object object_;
};

/// The setters common to all builders. `Self` is the builder.
template <class Self>
class MetadataBuilder : public ObjectBuilder {
 public:
    Self& label(std::string_view key, std::string_view value) {
        set_metadata("labels", key, value);
        return self();
    }
    Self& annotation(std::string_view key, std::string_view value) {
        set_metadata("annotations", key, value);
        return self();
    }
    /// Without a uid the server assigns one.
    Self& uid(std::string_view uid) {
        metadata()["uid"] = uid;
        return self();
    }
    /// The controlling owner: a "ReplicaSet", "Deployment", "Job", "CronJob" and so on.
    Self& controller(std::string_view kind, std::string_view name) {
        set_controller(kind, name);
        return self();
    }

 protected:
    using ObjectBuilder::ObjectBuilder;

 private:
    Self& self() { return static_cast<Self&>(*this); }
};

/// See pod().
class K8S_SD_EXPORT PodBuilder : public MetadataBuilder<PodBuilder> {
 public:
    PodBuilder(std::string_view ns, std::string_view name);

    PodBuilder& ip(std::string_view);       ///< a pod without one has no targets
    PodBuilder& host_ip(std::string_view);  ///< address of the node
    PodBuilder& node(std::string_view name);
    PodBuilder& phase(std::string_view);  ///< "Pending", "Succeeded" …
    PodBuilder& ready(
        bool = true);  /// Adds a container. \param port  0: without a declared port (yet)
    PodBuilder& container(std::string_view name, std::string_view image, unsigned short port = 0);
    /// Adds an init container.
    PodBuilder& init_container(std::string_view name, std::string_view image,
                               unsigned short port = 0);
    /// Adds a port to the last container. \throws std::logic_error without a container
    PodBuilder& port(std::string_view name, unsigned short number,
                     std::string_view protocol = "TCP");
    /// Sets the ID of the last container, "containerd://4f2c". \throws as port()
    PodBuilder& container_id(std::string_view);

 private:
    PodBuilder& add_container(std::string_view list, std::string_view name, std::string_view image,
                              unsigned short port);
    boost::json::object& last();
    std::string_view last_list_ = "containers";
};
/// A pod in phase Running that is not ready and has no address, node or containers yet.
K8S_SD_EXPORT PodBuilder pod(std::string_view ns, std::string_view name);

/// See service().
class K8S_SD_EXPORT ServiceBuilder : public MetadataBuilder<ServiceBuilder> {
 public:
    ServiceBuilder(std::string_view ns, std::string_view name);

    ServiceBuilder& type(std::string_view);           ///< "LoadBalancer" …
    ServiceBuilder& cluster_ip(std::string_view);     ///< "None": headless
    ServiceBuilder& external_name(std::string_view);  ///< makes it an ExternalName, without address
    /// Adds a port. \param name  may be empty
    ServiceBuilder& port(std::string_view name, unsigned short number,
                         std::string_view protocol = "TCP");
    ServiceBuilder& selector(std::string_view key, std::string_view value);
};
/// A service of type ClusterIP with the address 10.96.0.1, without ports.
K8S_SD_EXPORT ServiceBuilder service(std::string_view ns, std::string_view name);

/// See endpoint_slice(). Setters for an endpoint apply to the last one; std::logic_error without
/// one.
class K8S_SD_EXPORT EndpointSliceBuilder : public MetadataBuilder<EndpointSliceBuilder> {
 public:
    EndpointSliceBuilder(std::string_view ns, std::string_view name, std::string_view service);

    EndpointSliceBuilder& address_type(std::string_view);  ///< "IPv6", "FQDN"
    /// Adds a port, for all endpoints. \param name  may be empty
    EndpointSliceBuilder& port(std::string_view name, unsigned short number,
                               std::string_view protocol = "TCP");
    EndpointSliceBuilder& endpoint(std::string_view address);  ///< adds a ready endpoint
    EndpointSliceBuilder& ready(bool = true);                  ///< a condition of the endpoint
    EndpointSliceBuilder& serving(bool = true);                ///< a condition of the endpoint
    EndpointSliceBuilder& terminating(bool = true);            ///< a condition of the endpoint
    EndpointSliceBuilder& zone(std::string_view);              ///< zone of the endpoint
    EndpointSliceBuilder& hint(std::string_view zone);         ///< adds a zone hint
    EndpointSliceBuilder& hostname(std::string_view);          ///< host name of the endpoint
    EndpointSliceBuilder& node(std::string_view name);         ///< node of the endpoint
    /// Sets the pod of the endpoint. \param uid  may be empty
    EndpointSliceBuilder& pod(std::string_view name, std::string_view uid = {});

 private:
    boost::json::object& last();
    EndpointSliceBuilder& condition(std::string_view name, bool value);
};
/// A slice of IPv4 addresses without ports and endpoints. \param service  its service
K8S_SD_EXPORT EndpointSliceBuilder endpoint_slice(std::string_view ns, std::string_view name,
                                                  std::string_view service);

/// See endpoints(). Setters for an address apply to the last one; std::logic_error without one.
class K8S_SD_EXPORT EndpointsBuilder : public MetadataBuilder<EndpointsBuilder> {
 public:
    EndpointsBuilder(std::string_view ns, std::string_view service);

    /// Adds a port, for all addresses. \param name  may be empty
    EndpointsBuilder& port(std::string_view name, unsigned short number,
                           std::string_view protocol = "TCP");
    EndpointsBuilder& address(std::string_view ip, bool ready = true);  ///< adds an address
    EndpointsBuilder& hostname(std::string_view);   ///< host name of the address
    EndpointsBuilder& node(std::string_view name);  ///< node of the address
    EndpointsBuilder& pod(std::string_view name);   ///< pod of the address

 private:
    boost::json::object& subset();
    boost::json::object& last();
    std::string_view last_list_;
};
/// The Endpoints of a service, with one subset, without ports and addresses.
K8S_SD_EXPORT EndpointsBuilder endpoints(std::string_view ns, std::string_view service);

/// See ingress().
class K8S_SD_EXPORT IngressBuilder : public MetadataBuilder<IngressBuilder> {
 public:
    IngressBuilder(std::string_view ns, std::string_view name);

    IngressBuilder& class_name(std::string_view);  ///< "nginx"
    /// Adds a path to the rule of its host. \param host  empty: any
    IngressBuilder& path(std::string_view host, std::string_view path, std::string_view service,
                         unsigned short port);
    /// Adds a host served with https. \param secret  the Secret with its certificate
    IngressBuilder& tls(std::string_view host, std::string_view secret);
};
/// An ingress without class and rules.
K8S_SD_EXPORT IngressBuilder ingress(std::string_view ns, std::string_view name);

/// See node().
class K8S_SD_EXPORT NodeBuilder : public MetadataBuilder<NodeBuilder> {
 public:
    explicit NodeBuilder(std::string_view name);

    /// Adds an address. \param type  "ExternalIP", "Hostname" …
    NodeBuilder& address(std::string_view address, std::string_view type = "InternalIP");
    NodeBuilder& kubelet_port(unsigned short);
    NodeBuilder& provider_id(std::string_view);  ///< "aws:///eu-1/i-0123"
    NodeBuilder& ready(bool = true);             ///< the Ready condition
};
/// A ready node with kubelet port 10250, without addresses.
K8S_SD_EXPORT NodeBuilder node(std::string_view name);

/// See namespace_().
class K8S_SD_EXPORT NamespaceBuilder : public MetadataBuilder<NamespaceBuilder> {
 public:
    explicit NamespaceBuilder(std::string_view name);
};
/// An active namespace, with the label kubernetes.io/metadata.name. Other objects do not need one.
K8S_SD_EXPORT NamespaceBuilder namespace_(std::string_view name);

/// A ReplicaSet; discovery reads its controller.
class K8S_SD_EXPORT ReplicaSetBuilder : public MetadataBuilder<ReplicaSetBuilder> {
 public:
    ReplicaSetBuilder(std::string_view ns, std::string_view name);
};
K8S_SD_EXPORT ReplicaSetBuilder replica_set(std::string_view ns, std::string_view name);

/// A Job; discovery reads its controller.
class K8S_SD_EXPORT JobBuilder : public MetadataBuilder<JobBuilder> {
 public:
    JobBuilder(std::string_view ns, std::string_view name);
};
K8S_SD_EXPORT JobBuilder job(std::string_view ns, std::string_view name);

/// See secret().
class K8S_SD_EXPORT SecretBuilder : public MetadataBuilder<SecretBuilder> {
 public:
    SecretBuilder(std::string_view ns, std::string_view name);

    SecretBuilder& type(std::string_view);  ///< "kubernetes.io/tls" …
    /// \param value  any bytes, not base64
    SecretBuilder& data(std::string_view key, std::string_view value);
    SecretBuilder& immutable(bool = true);  ///< the field `immutable`
};
/// A secret of type Opaque without data.
K8S_SD_EXPORT SecretBuilder secret(std::string_view ns, std::string_view name);

/// See config_map().
class K8S_SD_EXPORT ConfigMapBuilder : public MetadataBuilder<ConfigMapBuilder> {
 public:
    ConfigMapBuilder(std::string_view ns, std::string_view name);

    ConfigMapBuilder& data(std::string_view key, std::string_view value);  ///< UTF-8 text
    ConfigMapBuilder& immutable(bool = true);  ///< the field `immutable`
};
/// A ConfigMap without data.
K8S_SD_EXPORT ConfigMapBuilder config_map(std::string_view ns, std::string_view name);

}  // namespace k8s_sd::inline v0::sim
