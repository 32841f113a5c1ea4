#pragma once

#include "k8s_sd/sim/message.hpp"
#include "sim/api/route.hpp"
#include "sim/store/store.hpp"

#include <boost/json/object.hpp>
#include <functional>

namespace k8s_sd::inline v0::sim {

/// The body of a request. \throws StatusError 400 if it is no JSON object, 415 if it says that it
/// is something else
boost::json::object json_body(const Request&);

/// What a POST stores. \throws StatusError, 409 if there is an object of that name
ObjectPtr create(Store&, const Route&, const Request&);

/// What a PUT stores: there need not be such an object. \throws StatusError, 409 if it is not the
/// object, or not the version, that the body names
struct Updated {
    ObjectPtr object;
    bool created = false;
};
Updated update(Store&, const Route&, const Request&);

/// What a DELETE asks of the object before it goes: throws StatusError 409 if it is not as the
/// body wants it.
std::function<void(const Object&)> preconditions(const Route&, const Request&);

}  // namespace k8s_sd::inline v0::sim
