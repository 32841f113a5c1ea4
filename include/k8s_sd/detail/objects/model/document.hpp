#pragma once

#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// What decoders fill besides the structs of k8s_sd::api. All texts are views into the decoder's
/// buffer, and live until it goes on to the next object.
namespace k8s_sd::inline v0::detail::model {

/// What the server sends where it cannot send an object: an error, meta/v1 Status.
struct Status {
    struct Cause {
        std::string_view reason, message;
    };
    std::int64_t code = 0;
    std::int64_t retry_after_seconds = 0;
    std::string_view message, reason;
    std::vector<Cause> causes;
};

/// What a document says of itself.
struct DocumentHead {
    std::string_view kind;  ///< absent in the items of a list
    Status status;          ///< in place of an object
};

/// An object as it comes from the wire.
template <class Object>
struct Document : Object, DocumentHead {
    /// Decoders know the object as a `void*`.
    static DocumentHead& head_of(void* object) noexcept {
        return static_cast<Document&>(*static_cast<Object*>(object));
    }
};

/// Of a kind of which only the metadata is read.
struct MetadataOnly {
    api::ObjectMeta metadata;
};

}  // namespace k8s_sd::inline v0::detail::model
