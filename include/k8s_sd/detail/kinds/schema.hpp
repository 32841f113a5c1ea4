#pragma once

#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/objects/fields.hpp"

namespace k8s_sd::inline v0::detail {

/// The schema for reading the objects of a kind; never destroyed. Thread-safe.
const KindSchema& schema_of(Kind kind);

/// The schema for hosts: some fields besides those used for labels.
KindSchema make_schema(Kind kind, const Fields& fields);

}  // namespace k8s_sd::inline v0::detail
