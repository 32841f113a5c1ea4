#pragma once

#include "k8s_sd/detail/objects/model/document.hpp"
#include "k8s_sd/generic.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Reads the JSON of an object of any resource, or of the Status that may come in place of one. The
/// content is the whole document then: what is kept of it is decided later.
/// \returns what is wrong with it; empty: nothing
std::string read_generic(std::string_view json, model::Document<Generic>& document);

}  // namespace k8s_sd::inline v0::detail
