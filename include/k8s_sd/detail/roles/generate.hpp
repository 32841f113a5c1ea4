#pragma once

#include "k8s_sd/detail/roles/endpoint_slice.hpp"
#include "k8s_sd/detail/roles/endpoints.hpp"
#include "k8s_sd/detail/roles/ingress.hpp"
#include "k8s_sd/detail/roles/node.hpp"
#include "k8s_sd/detail/roles/pod.hpp"
#include "k8s_sd/detail/roles/service.hpp"

#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Prometheus' sources; note "svc".
constexpr std::string_view source_prefix(Role role) noexcept {
    switch (role) {
        case Role::node: return "node/";
        case Role::pod: return "pod/";
        case Role::service: return "svc/";
        case Role::endpoints: return "endpoints/";
        case Role::endpointslice: return "endpointslice/";
        case Role::ingress: return "ingress/";
    }
    return {};
}

/// The kinds that must be listed before a role's first state is complete; its main kind first.
inline std::vector<Kind> needed_kinds(Role role, const AttachMetadata& attach) {
    std::vector<Kind> kinds;
    kinds.reserve(kind_count);
    kinds.push_back(main_kind(role));
    const bool behind_service = role == Role::endpoints || role == Role::endpointslice;
    const bool has_pods = role == Role::pod || behind_service;
    if (behind_service) kinds.push_back(Kind::service);
    if (behind_service) kinds.push_back(Kind::pod);
    if (attach.node && has_pods) kinds.push_back(Kind::node);
    if (attach.namespace_ && role != Role::node) kinds.push_back(Kind::namespace_);
    if (attach.deployment && has_pods) kinds.push_back(Kind::replicaset);
    if (attach.cronjob && has_pods) kinds.push_back(Kind::job);
    return kinds;
}

/// The targets of `object`, whose kind must be the role's main kind. Null if it has none, or more
/// than it may have: then GroupBuilder::overfull() tells.
inline TargetGroupPtr generate(Role role, const Object& object, GeneratorContext& g) {
    g.group.begin(source_prefix(role), object.ns(), object.name(), g.options.max_targets);
    switch (role) {
        case Role::node: node_targets(static_cast<const NodeObject&>(object), g); break;
        case Role::pod: pod_targets(static_cast<const PodObject&>(object), g); break;
        case Role::service: service_targets(static_cast<const ServiceObject&>(object), g); break;
        case Role::endpoints:
            endpoints_targets(static_cast<const EndpointsObject&>(object), g);
            break;
        case Role::endpointslice:
            endpointslice_targets(static_cast<const EndpointSliceObject&>(object), g);
            break;
        case Role::ingress: ingress_targets(static_cast<const IngressObject&>(object), g); break;
    }
    return g.group.finish();
}

}  // namespace k8s_sd::inline v0::detail
