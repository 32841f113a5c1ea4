#pragma once

#include "sim/store/resource_type.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// JSON of objects of the type as another version of its API group has it. Only what clients of
/// EndpointSlices and Ingresses of v1beta1 see is different.
std::string in_version(std::string json, const ResourceType&, std::string_view version);

}  // namespace k8s_sd::inline v0::sim
