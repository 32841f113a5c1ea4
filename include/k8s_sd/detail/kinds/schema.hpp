#pragma once

#include "k8s_sd/detail/codec/kind_schema.hpp"

namespace k8s_sd::inline v0::detail {

/// What reading the objects of a kind takes; lives as long as the program. Thread-safe.
const KindSchema& schema_of(Kind kind);

}  // namespace k8s_sd::inline v0::detail
