#pragma once

#include "k8s_sd/detail/roles/shared/context.hpp"
#include "k8s_sd/kind.hpp"

namespace k8s_sd::inline v0::detail {

/// How the objects of a kind are read and kept. Each kind has a specialization in a file of its
/// own, kinds/<enumerator>.hpp, which kinds/all.hpp finds through K8S_SD_KINDS:
///
/// - `Model`: the struct that decoders fill; it has a `metadata`
/// - `static constexpr std::tuple rows`: its fields, see Row. The structs in it have a Table each.
/// - optional, `static constexpr Use labels`: what is read of it for the labels of targets, if not
///   all that reaches one
/// - optional, `static constexpr std::string_view only_by_name`: the path of a field that hosts get
///   only if they name it, see Fields::all()
/// - optional, `static constexpr std::string_view older_version`: of its API group, "v1beta1", in
///   which old servers have it
/// - `LabelObject`: what is kept of it for labels, made of a Model, RoleOptions and a LabelFactory;
///   or, of a kind that reaches no label, `static ObjectPtr make(const Model&)`
///
/// Other kinds, whose fields are not known, have one of their own: kinds/generic.hpp.
template <Kind kind>
struct KindTraits;

template <class Traits>
concept ReachesLabels = requires {
    typename Traits::LabelObject;
};

}  // namespace k8s_sd::inline v0::detail
