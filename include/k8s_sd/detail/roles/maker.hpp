#pragma once

#include "k8s_sd/detail/roles/generate.hpp"

namespace k8s_sd::inline v0::detail {

/// What makes stored objects out of decoded ones. Belongs to one strand.
struct ObjectMaker {
    RoleOptions options;
    LabelFactory factory;

    ObjectPtr make(Kind, const model::Node& node) { return new NodeObject(node, options, factory); }
    ObjectPtr make(Kind, const model::Pod& pod) { return new PodObject(pod, factory); }
    ObjectPtr make(Kind, const model::Service& service) {
        return new ServiceObject(service, options, factory);
    }
    ObjectPtr make(Kind, const model::Endpoints& endpoints) {
        return new EndpointsObject(endpoints, options, factory);
    }
    ObjectPtr make(Kind, const model::EndpointSlice& slice) {
        return new EndpointSliceObject(slice, options, factory);
    }
    ObjectPtr make(Kind, const model::Ingress& ingress) {
        return new IngressObject(ingress, options, factory);
    }
    ObjectPtr make(Kind kind, const model::MetadataOnly& object) {
        if (kind == Kind::namespace_) return new NamespaceObject(object.meta, factory);
        return new WorkloadLink(kind, object.meta);
    }
};

}  // namespace k8s_sd::inline v0::detail
