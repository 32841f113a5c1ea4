#pragma once

#include "k8s_sd/detail/kinds/configmap.hpp"
#include "k8s_sd/detail/kinds/endpoints.hpp"
#include "k8s_sd/detail/kinds/endpointslice.hpp"
#include "k8s_sd/detail/kinds/gateway.hpp"
#include "k8s_sd/detail/kinds/generic.hpp"
#include "k8s_sd/detail/kinds/grpcroute.hpp"
#include "k8s_sd/detail/kinds/httproute.hpp"
#include "k8s_sd/detail/kinds/ingress.hpp"
#include "k8s_sd/detail/kinds/job.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/namespace_.hpp"
#include "k8s_sd/detail/kinds/node.hpp"
#include "k8s_sd/detail/kinds/pod.hpp"
#include "k8s_sd/detail/kinds/replicaset.hpp"
#include "k8s_sd/detail/kinds/secret.hpp"
#include "k8s_sd/detail/kinds/service.hpp"
#include "k8s_sd/detail/kinds/tlsroute.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/role.hpp"

namespace k8s_sd::inline v0::detail {

/// Calls `f(KindTraits<kind>{})` for a kind known only at run time.
template <class F>
auto with_kind(Kind kind, const F& f) {
    switch (kind) {
#define K8S_SD_CASE(name, ...) \
    case Kind::name: return f(KindTraits<Kind::name>{});
        K8S_SD_KINDS(K8S_SD_CASE)
#undef K8S_SD_CASE
    }
    return f(KindTraits<any_other_kind>{});
}

/// Calls `f(RoleTraits<role>{})` for a role known only at run time.
template <class F>
auto with_role(Role role, const F& f) {
    switch (role) {
#define K8S_SD_CASE(name, ...) \
    case Role::name: return f(RoleTraits<Role::name>{});
        K8S_SD_ROLES(K8S_SD_CASE)
#undef K8S_SD_CASE
    }
    return f(RoleTraits<Role{}>{});  // unreachable
}

}  // namespace k8s_sd::inline v0::detail
