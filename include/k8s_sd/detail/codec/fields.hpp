#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/objects/model/data_map.hpp"
#include "k8s_sd/detail/objects/model/endpoint_slice.hpp"
#include "k8s_sd/detail/objects/model/endpoints.hpp"
#include "k8s_sd/detail/objects/model/ingress.hpp"
#include "k8s_sd/detail/objects/model/node.hpp"
#include "k8s_sd/detail/objects/model/pod.hpp"
#include "k8s_sd/detail/objects/model/service.hpp"

#include <iterator>
#include <utility>

/// Which fields of each kind are wanted: those that reach a label, and the data of Secrets and
/// ConfigMaps. The tables read like the Kubernetes API reference.
namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line, as deep as the document.
// clang-format off

enum class MetadataFields { all, without_labels, identity };

inline Members metadata_members(MetadataFields fields) {
    using M = model::ObjectMeta;
    using O = model::OwnerReference;
    using namespace project;
    Members members{
        {"name", text<&M::name>()},
        {"namespace", text<&M::ns>()},
        {"uid", text<&M::uid>()},
        {"resourceVersion", text<&M::resource_version>()},
    };
    // An annotation of a Secret may hold a copy of its data (last-applied-configuration).
    if (fields == MetadataFields::identity) return members;
    members.insert(members.end(), {
        {"ownerReferences", array<&M::owner_references>({
            {"kind", text<&O::kind>()},
            {"name", text<&O::name>()},
            {"controller", boolean<&O::controller>()},
        })},
        // Wanted of every kind: a bookmark says there that the initial events have ended.
        {"annotations", map<&M::annotations>()},
    });
    if (fields == MetadataFields::all) members.emplace_back("labels", map<&M::labels>());
    return members;
}

/// The Status that may come in place of an object has its fields where the object has its own.
template <class Model, auto Pointer>
Projection status_text() {
    Projection node{.type = Projection::Type::text};
    node.set_text = [](void* around, std::string_view value) {
        static_cast<Model*>(around)->meta.status.*Pointer = value;
    };
    return node;
}

/// Adds what every object has, and the fields of a Status.
template <class Model>
Members object_members(Members members, MetadataFields fields = MetadataFields::all) {
    using S = model::Status;
    using namespace project;
    Projection kind{.type = Projection::Type::text};
    kind.set_text = [](void* around, std::string_view value) {
        static_cast<Model*>(around)->meta.kind = value;
    };
    Projection code{.type = Projection::Type::number};
    code.set_number = [](void* around, std::int64_t value) {
        static_cast<Model*>(around)->meta.status.code = value;
    };
    Projection details = object({
        {"retryAfterSeconds", number<&S::retry_after_seconds>()},
        {"causes", array<&S::causes>({
            {"reason", text<&S::Cause::reason>()},
            {"message", text<&S::Cause::message>()},
        })},
    });
    details.begin = [](void* around) -> void* { return &static_cast<Model*>(around)->meta.status; };
    members.emplace_back("metadata", object<&Model::meta>(metadata_members(fields)));
    members.emplace_back("kind", std::move(kind));
    members.emplace_back("code", std::move(code));
    members.emplace_back("message", status_text<Model, &S::message>());
    members.emplace_back("reason", status_text<Model, &S::reason>());
    members.emplace_back("details", std::move(details));
    return members;
}

inline Members node_members() {
    using N = model::Node;
    using A = model::NodeAddress;
    using namespace project;
    return object_members<N>({
        {"spec", object({{"providerID", text<&N::provider_id>()}})},
        {"status", object({
            {"addresses", array<&N::addresses>({
                {"type", text<&A::type>()},
                {"address", text<&A::address>()},
            })},
            {"daemonEndpoints", object({
                {"kubeletEndpoint", object({{"Port", number<&N::kubelet_port>()}})},
            })},
        })},
    });
}

inline Members pod_members() {
    using P = model::Pod;
    using C = model::Container;
    using S = model::ContainerStatus;
    using namespace project;
    const Members container{
        {"name", text<&C::name>()},
        {"image", text<&C::image>()},
        {"restartPolicy", text<&C::restart_policy>()},
        {"ports", array<&C::ports>({
            {"name", text<&model::ContainerPort::name>()},
            {"containerPort", number<&model::ContainerPort::number>()},
            {"protocol", text<&model::ContainerPort::protocol>()},
        })},
    };
    const Members status{
        {"name", text<&S::name>()},
        {"containerID", text<&S::id>()},
        {"state", object({{"terminated", presence<&S::terminated>()}})},
    };
    return object_members<P>({
        {"spec", object({
            {"nodeName", text<&P::node_name>()},
            {"containers", array<&P::containers>(container)},
            {"initContainers", array<&P::init_containers>(container)},
        })},
        {"status", object({
            {"phase", text<&P::phase>()},
            {"podIP", text<&P::pod_ip>()},
            {"hostIP", text<&P::host_ip>()},
            {"conditions", array<&P::conditions>({
                {"type", text<&model::PodCondition::type>()},
                {"status", text<&model::PodCondition::status>()},
            })},
            {"containerStatuses", array<&P::container_statuses>(status)},
            {"initContainerStatuses", array<&P::init_container_statuses>(status)},
        })},
    });
}

inline Members service_members() {
    using S = model::Service;
    using P = model::ServicePort;
    using namespace project;
    return object_members<S>({
        {"spec", object({
            {"type", text<&S::type>()},
            {"clusterIP", text<&S::cluster_ip>()},
            {"externalName", text<&S::external_name>()},
            {"loadBalancerIP", text<&S::load_balancer_ip>()},
            {"ports", array<&S::ports>({
                {"name", text<&P::name>()},
                {"protocol", text<&P::protocol>()},
                {"port", number<&P::number>()},
            })},
        })},
    });
}

template <auto Pointer>
Projection target_reference() {
    using R = model::TargetReference;
    using namespace project;
    Projection node = object({
        {"kind", text<&R::kind>()},
        {"namespace", text<&R::ns>()},
        {"name", text<&R::name>()},
    });
    node.begin = [](void* around) -> void* {
        R& reference = field<Pointer>(around);
        reference.present = true;
        return &reference;
    };
    return node;
}

inline Members endpoints_members() {
    using S = model::EndpointSubset;
    using A = model::EndpointAddress;
    using P = model::EndpointPort;
    using namespace project;
    const Members address{
        {"ip", text<&A::ip>()},
        {"hostname", text<&A::hostname>()},
        {"nodeName", text<&A::node_name>()},
        {"targetRef", target_reference<&A::target>()},
    };
    return object_members<model::Endpoints>({
        {"subsets", array<&model::Endpoints::subsets>({
            {"addresses", array<&S::addresses>(address)},
            {"notReadyAddresses", array<&S::not_ready_addresses>(address)},
            {"ports", array<&S::ports>({
                {"name", text<&P::name>()},
                {"port", number<&P::number>()},
                {"protocol", text<&P::protocol>()},
            })},
        })},
    });
}

inline Members endpointslice_members() {
    using S = model::EndpointSlice;
    using E = model::Endpoint;
    using C = model::EndpointConditions;
    using P = model::SlicePort;
    using namespace project;
    return object_members<S>({
        {"addressType", text<&S::address_type>()},
        {"endpoints", array<&S::endpoints>({
            {"addresses", texts<&E::addresses>()},
            {"conditions", object<&E::conditions>({
                {"ready", boolean<&C::ready>()},
                {"serving", boolean<&C::serving>()},
                {"terminating", boolean<&C::terminating>()},
            })},
            {"hostname", text<&E::hostname>()},
            {"nodeName", text<&E::node_name>()},
            {"zone", text<&E::zone>()},
            {"deprecatedTopology", map<&E::topology>()},
            {"targetRef", target_reference<&E::target>()},
        })},
        {"ports", array<&S::ports>({
            {"name", text<&P::name>()},
            {"protocol", text<&P::protocol>()},
            {"port", number<&P::number>()},
            {"appProtocol", text<&P::app_protocol>()},
        })},
    });
}

inline Members ingress_members() {
    using I = model::Ingress;
    using R = model::IngressRule;
    using namespace project;
    return object_members<I>({
        {"spec", object({
            {"ingressClassName", text<&I::class_name>()},
            {"rules", array<&I::rules>({
                {"host", text<&R::host>()},
                {"http", presence<&R::has_http>({
                    {"paths", array<&R::paths>({{"path", text<&model::IngressPath::path>()}})},
                })},
            })},
            {"tls", array<&I::tls>({{"hosts", texts<&model::IngressTls::hosts>()}})},
        })},
    });
}

inline Members data_members() {
    using D = model::DataMap;
    using namespace project;
    return object_members<D>({
        {"type", text<&D::type>()},
        {"immutable", boolean<&D::immutable>()},
        {"data", map<&D::data>()},
        {"binaryData", map<&D::binary_data>()},
    }, MetadataFields::identity);
}

// clang-format on

}  // namespace k8s_sd::inline v0::detail
