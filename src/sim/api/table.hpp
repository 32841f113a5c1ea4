#pragma once

#include "sim/store/object.hpp"

#include <string>

namespace k8s_sd::inline v0::sim {

/// The JSON array of column definitions for kubectl's output of this resource.
std::string table_columns(const ResourceType&);
/// The JSON of one row, with the object's metadata.
std::string table_row(const Object&);
/// {"kind":"PartialObjectMetadata", ...}
std::string partial_object(const Object&);

}  // namespace k8s_sd::inline v0::sim
