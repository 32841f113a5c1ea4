#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/objects/model/document.hpp"
#include "k8s_sd/generic.hpp"

#include <cstddef>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Reads the JSON of an object of any resource, or of the Status that may come in place of one. The
/// content is the whole document then: what is kept of it is decided later.
/// \param max_bytes  its values may take twice as much; of one that would take more nothing is read
RawProblem read_generic(std::string_view json, model::Document<Generic>& document,
                        std::size_t max_bytes);

}  // namespace k8s_sd::inline v0::detail
