#pragma once

#include "sim/store/resource_type.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The JSON of objects of the type in another version of its API group. Only differences visible to
/// clients of v1beta1 EndpointSlices and Ingresses are implemented.
std::string in_version(std::string json, const ResourceType&, std::string_view version);

}  // namespace k8s_sd::inline v0::sim
