#pragma once

#include "sim/api/list_options.hpp"
#include "sim/api/render.hpp"
#include "sim/api/route.hpp"
#include "sim/store/store.hpp"

#include <string>

namespace k8s_sd::inline v0::sim {

/// The body of the response to a LIST. \throws StatusError
std::string list(const Store&, const Route&, const ListOptions&, const Encoding&);

}  // namespace k8s_sd::inline v0::sim
