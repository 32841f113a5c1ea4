#pragma once

#include "sim/list_options.hpp"
#include "sim/render.hpp"
#include "sim/route.hpp"
#include "sim/store.hpp"

#include <string>

namespace k8s_sd::inline v0::sim {

/// The body of the answer to a LIST. \throws StatusError
std::string list(const Store&, const Route&, const ListOptions&, Form);

}  // namespace k8s_sd::inline v0::sim
