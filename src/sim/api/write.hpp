#pragma once

#include "k8s_sd/sim/message.hpp"
#include "sim/api/route.hpp"
#include "sim/store/store.hpp"

#include <boost/json/object.hpp>
#include <functional>

namespace k8s_sd::inline v0::sim {

/// The body of a request. \throws StatusError 400 if it is no JSON object, 415 for another content
/// type
boost::json::object json_body(const Request&);

/// The object stored by a POST. \throws StatusError, 409 if there is an object of this name
ObjectPtr create(Store&, const Route&, const Request&);

/// The object stored by a PUT, existing or not. \throws StatusError, 409 if the body names another
/// object or another version
struct Updated {
    ObjectPtr object;
    bool created = false;
};
Updated update(Store&, const Route&, const Request&);

/// The preconditions in the body of a DELETE: throws StatusError 409 if the object violates them.
std::function<void(const Object&)> preconditions(const Route&, const Request&);

}  // namespace k8s_sd::inline v0::sim
