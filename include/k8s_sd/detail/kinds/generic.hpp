#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/objects/fields.hpp"
#include "k8s_sd/objects/generic.hpp"

#include <boost/json/object.hpp>

namespace k8s_sd::inline v0::detail {

/// Objects of resources with unknown fields. If only metadata is wanted, it is read like that of
/// known kinds; otherwise the whole object is read as JSON, see read_generic().
template <>
struct KindTraits<any_other_kind> {
    using Model = Generic;
    static constexpr FieldRows rows{Row<&Model::metadata>{"metadata", 1, Use::always}};
};

/// Whether all fields are in the metadata.
bool are_of_metadata(const Fields& fields) noexcept;

/// The fields of a document, without the metadata. An array on the path keeps its length: of each
/// element only the rest of the path is kept.
boost::json::object keep_content(const boost::json::object& document, const Fields& fields);

/// Whether two contents agree in the fields. They may have others.
bool same_content(const boost::json::object& a, const boost::json::object& b, const Fields& fields);

}  // namespace k8s_sd::inline v0::detail
