#pragma once

#include "k8s_sd/api/object_meta.hpp"

#include <boost/json/object.hpp>

namespace k8s_sd_c {

/// The metadata with the names of the Kubernetes API; without absent fields.
boost::json::object metadata_json(const k8s_sd::api::ObjectMeta&);

}  // namespace k8s_sd_c
