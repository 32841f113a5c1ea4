#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/objects/model/document.hpp"
#include "k8s_sd/objects/generic.hpp"

#include <cstddef>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Reads the JSON of an object of any resource, or of a Status sent in its place. The content is
/// the whole document at first; fields are selected later.
/// \param max_bytes  its values may take twice as much memory; a larger object is not read at all
RawProblem read_generic(std::string_view json, model::Document<Generic>& document,
                        std::size_t max_bytes);

}  // namespace k8s_sd::inline v0::detail
