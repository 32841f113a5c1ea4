#pragma once

#include "k8s_sd/sim/message.hpp"
#include "sim/api/route.hpp"

#include <boost/json/object.hpp>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The validated Lease in the body of a request, without unknown fields, in its stored form.
/// metadata.uid and metadata.resourceVersion are those of the body.
/// \throws StatusError 400 for anything but a Lease, or for another Lease than the path's; 415 for
/// a content type other than JSON; 422 for values not allowed in a Lease
boost::json::object read_lease(const Request&, const Route&);

}  // namespace k8s_sd::inline v0::sim
