#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/role.hpp"

#include <vector>

namespace k8s_sd::inline v0::detail {

/// How the objects of a kind are read and stored. Each kind has a specialization in a file of its
/// own, kinds/<enumerator>.hpp; kinds/all.hpp includes it:
///
/// - `Model`: the struct filled by decoders; it has a `metadata`
/// - `static constexpr FieldRows rows`: its fields, see Row. Each struct in it has a Table.
/// - optional, `static constexpr Use labels`: the use of its fields for the labels of targets, by
///   default all fields used for a label
/// - optional, `static Fields version_fields(const VersionRules&)`: further fields for labels in
///   some versions of Prometheus
/// - optional, `static constexpr std::string_view only_by_name`: the path of a field excluded from
///   Fields::all(); hosts get it only by naming it
/// - optional, `static constexpr std::string_view older_versions[]`: the versions of its API group
///   on old servers, the newest first: "v1beta1"
/// - optional, `static constexpr bool is_custom = true`: a CustomResourceDefinition defines it, so
///   servers have it in JSON only, and perhaps later or not at all
/// - `LabelObject`: the object stored for labels, made of a Model, RoleOptions and a LabelFactory;
///   or, for a kind not used for labels, `static ObjectPtr make(const Model&)`
///
/// Kinds with unknown fields share one specialization: kinds/generic.hpp.
template <Kind kind>
struct KindTraits;

template <class Traits>
concept ReachesLabels = requires {
    typename Traits::LabelObject;
};

/// Traits of a role's target generation. Each role has a specialization in the file of its main
/// kind, kinds/<kind>.hpp:
///
/// - `MainObject`: the cached form of the objects of main_kind()
/// - `static constexpr std::string_view source_prefix`: the start of the groups' names
/// - `static constexpr LabelRow labels[]`: rows of docs/guide/labels.md for the objects' own labels
/// - `static void add_needed_kinds(const AttachMetadata&, std::vector<Kind>&)`: further kinds
///   required by the targets
/// - `static void generate(const MainObject&, GeneratorContext&)`: adds the labels of the group,
///   then its targets with add_targets(), or with add_part() for each endpoint with targets
template <Role role>
struct RoleTraits;

/// For targets of namespaced objects.
inline void add_kinds_attached_to_objects(const AttachMetadata& attach, std::vector<Kind>& kinds) {
    if (attach.namespace_) kinds.push_back(Kind::namespace_);
}

/// For targets of pods, or with pods behind them.
inline void add_kinds_attached_to_pods(const AttachMetadata& attach, std::vector<Kind>& kinds) {
    if (attach.node) kinds.push_back(Kind::node);
    add_kinds_attached_to_objects(attach, kinds);
    if (attach.deployment) kinds.push_back(Kind::replicaset);
    if (attach.cronjob) kinds.push_back(Kind::job);
}

/// For targets of a service's endpoints.
inline void add_kinds_behind_service(const AttachMetadata& attach, std::vector<Kind>& kinds) {
    kinds.insert(kinds.end(), {Kind::service, Kind::pod});
    add_kinds_attached_to_pods(attach, kinds);
}

}  // namespace k8s_sd::inline v0::detail
