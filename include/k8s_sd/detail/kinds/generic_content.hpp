#pragma once

#include "k8s_sd/fields.hpp"

#include <boost/json/object.hpp>

namespace k8s_sd::inline v0::detail {

/// Whether the fields are of the metadata alone.
bool are_of_metadata(const Fields& fields) noexcept;

/// What fields keep of a document, but for the metadata. An array on the way stays as long as it
/// is: of each element that is kept which the path goes on to.
boost::json::object keep_content(const boost::json::object& document, const Fields& fields);

/// Whether two contents have the fields alike. They may have more.
bool same_content(const boost::json::object& a, const boost::json::object& b, const Fields& fields);

}  // namespace k8s_sd::inline v0::detail
