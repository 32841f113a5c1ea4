#pragma once

#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/detail/kinds/field_mask.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/pod_template.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/objects/fields.hpp"
#include "k8s_sd/objects/object.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// How a watch stores objects for hosts, and the schema for reading them. A watch without a form
/// stores objects for labels only.
struct ObjectForm {
    /// \param with_labels  the objects are also stored for labels
    /// \param rules        for their labels
    ObjectForm(Kind kind, const Fields& fields, bool with_labels,
               const VersionRules& rules = no_version_rules);

    Fields fields;
    FieldMask mask;  ///< of the fields
    bool with_labels;
    KindSchema schema;
};

/// Resolves a host's Fields: Fields::all() does not include fields only available by name.
Fields fields_meant(Kind kind, const Fields& fields);

/// The mask of the fields in the kind's struct.
FieldMask mask_of(Kind kind, const Fields& fields);

/// All valid Fields of the kind, sorted.
std::vector<std::string> field_paths(Kind kind);

/// Whether two objects of a kind, stored for hosts, agree in these fields.
/// \param mask  the mask of the fields
bool same_fields(const Object& a, const Object& b, const Fields& fields, const FieldMask& mask);

/// Converts decoded objects to cached ones. Used on one strand.
struct ObjectMaker {
    RoleOptions options;
    ObjectFactory factory;

    /// \param form  null: stored for labels
    /// \throws LabelLimitReached
    ObjectPtr make(const DecodedObject& object, const ObjectForm* form = nullptr);
};

}  // namespace k8s_sd::inline v0::detail
