#pragma once

#include "k8s_sd/api/config_map.hpp"
#include "k8s_sd/api/endpoint_slice.hpp"
#include "k8s_sd/api/endpoints.hpp"
#include "k8s_sd/api/ingress.hpp"
#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/api/node.hpp"
#include "k8s_sd/api/owners.hpp"
#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/api/service.hpp"
#include "k8s_sd/kind.hpp"

namespace k8s_sd::inline v0::api {

/// The kind whose objects a struct describes: `kind_of<api::Pod>` is Kind::pod.
template <class T>
inline constexpr Kind kind_of = T::no_such_kind;
template <>
inline constexpr Kind kind_of<Node> = Kind::node;
template <>
inline constexpr Kind kind_of<Pod> = Kind::pod;
template <>
inline constexpr Kind kind_of<Service> = Kind::service;
template <>
inline constexpr Kind kind_of<Endpoints> = Kind::endpoints;
template <>
inline constexpr Kind kind_of<EndpointSlice> = Kind::endpointslice;
template <>
inline constexpr Kind kind_of<Ingress> = Kind::ingress;
template <>
inline constexpr Kind kind_of<Namespace> = Kind::namespace_;
template <>
inline constexpr Kind kind_of<ReplicaSet> = Kind::replicaset;
template <>
inline constexpr Kind kind_of<Job> = Kind::job;
template <>
inline constexpr Kind kind_of<Secret> = Kind::secret;
template <>
inline constexpr Kind kind_of<ConfigMap> = Kind::configmap;

}  // namespace k8s_sd::inline v0::api
