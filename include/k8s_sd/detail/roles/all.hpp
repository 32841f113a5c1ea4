#pragma once

#include "k8s_sd/detail/roles/role_traits.hpp"
#include "k8s_sd/role.hpp"

#define K8S_SD_EACH_ROW K8S_SD_ROLES
// clang-format off
#define K8S_SD_EACH_FOLDER k8s_sd/detail/roles
// clang-format on
#include "k8s_sd/detail/base/include_each.hpp"

namespace k8s_sd::inline v0::detail {

/// Calls `f(RoleTraits<role>{})` for a role known at run time.
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
