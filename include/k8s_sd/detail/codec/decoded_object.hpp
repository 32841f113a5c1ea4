#pragma once

#include "k8s_sd/detail/objects/model/document.hpp"
#include "k8s_sd/kind.hpp"

namespace k8s_sd::inline v0::detail {

/// A decoded object. Its model and all texts in it belong to the decoder, and are valid until the
/// reporting call returns.
struct DecodedObject {
    Kind kind;
    const api::ObjectMeta& meta;
    const void* model;  ///< a KindTraits<kind>::Model with this `meta`
    /// False: the kind is right provided that the rest of the list confirms it.
    bool kind_is_certain = true;
};

}  // namespace k8s_sd::inline v0::detail
