#pragma once

#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/kinds/field_mask.hpp"
#include "k8s_sd/fields.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/object.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// In which form a watch keeps objects for hosts, and what it reads for that. A watch without one
/// keeps them for labels alone.
struct ObjectForm {
    /// \param with_labels  they are kept for labels, too
    ObjectForm(Kind kind, const Fields& fields, bool with_labels);

    Fields fields;
    FieldMask mask;  ///< of them
    bool with_labels;
    KindSchema schema;
};

/// What a host means by Fields of the kind: of Fields::all() not what has to be named.
Fields fields_meant(Kind kind, const Fields& fields);

/// Which fields of the kind's struct are meant.
FieldMask mask_of(Kind kind, const Fields& fields);

/// All that there may be in Fields of the kind, sorted.
std::vector<std::string> field_paths(Kind kind);

/// Whether two objects of a kind with the structs for hosts have these fields alike.
/// \param mask  of the fields
bool same_fields(const Object& a, const Object& b, const Fields& fields, const FieldMask& mask);

}  // namespace k8s_sd::inline v0::detail
