#pragma once

#include "k8s_sd/detail/roles/shared/context.hpp"
#include "k8s_sd/kind.hpp"

namespace k8s_sd::inline v0::detail {

/// How the objects of a kind are read and kept. Each kind has a specialization in a file of its
/// own, kinds/<enumerator>.hpp, which kinds/all.hpp finds through K8S_SD_KINDS:
///
/// - `Model`: the aggregate that decoders fill; it has a `meta`
/// - `static Members members()`: which members of the JSON, and fields of the protobuf, go where
/// - optional, `static constexpr bool metadata_only = true`: where no member but the metadata is
///   read, the server is asked for nothing else (PartialObjectMetadata)
/// - optional, `static constexpr std::string_view older_version`: of its API group, "v1beta1", in
///   which old servers have it
/// - `static ObjectPtr make(const Model&, const RoleOptions&, LabelFactory&)`: the object to keep
template <Kind kind>
struct KindTraits;

}  // namespace k8s_sd::inline v0::detail
