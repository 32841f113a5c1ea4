#pragma once

#include "k8s_sd/sim/message.hpp"
#include "sim/api/route.hpp"

#include <boost/json/object.hpp>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The Lease in the body of a request, checked, without what the server does not know: as it is
/// stored. metadata.uid and metadata.resourceVersion are those of the body.
/// \throws StatusError 400 for what is no Lease, or not the one that the path names; 415 for a
/// content type other than JSON; 422 for values that no Lease may have
boost::json::object read_lease(const Request&, const Route&);

}  // namespace k8s_sd::inline v0::sim
