#pragma once

#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/fields.hpp"

namespace k8s_sd::inline v0::detail {

/// What reading the objects of a kind takes; lives as long as the program. Thread-safe.
const KindSchema& schema_of(Kind kind);

/// The same for hosts that read some fields besides what reaches a label.
KindSchema make_schema(Kind kind, const Fields& fields);

}  // namespace k8s_sd::inline v0::detail
