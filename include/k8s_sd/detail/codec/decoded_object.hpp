#pragma once

#include "k8s_sd/detail/objects/model/document.hpp"
#include "k8s_sd/kind.hpp"

namespace k8s_sd::inline v0::detail {

/// An object as it came from the wire. Its model, like every text in it, is in the room of the
/// decoder and lives until the call that brought it returns.
struct DecodedObject {
    Kind kind;
    const api::ObjectMeta& meta;
    const void* model;  ///< a KindTraits<kind>::Model, which has this `meta`
    /// False: it is of the kind if the rest of the list turns out to be good.
    bool kind_is_certain = true;
};

}  // namespace k8s_sd::inline v0::detail
