#pragma once

#include "k8s_sd/detail/kinds/generic.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/kind.hpp"

#define K8S_SD_EACH_ROW K8S_SD_KINDS
// clang-format off
#define K8S_SD_EACH_FOLDER k8s_sd/detail/kinds
// clang-format on
#include "k8s_sd/detail/base/include_each.hpp"

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

}  // namespace k8s_sd::inline v0::detail
