#pragma once

#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// Decoder output besides the structs of k8s_sd::api. Texts are views into the decoder's buffer,
/// valid until it proceeds to the next object.
namespace k8s_sd::inline v0::detail::model {

/// meta/v1 Status, sent by the server instead of an object to report an error.
struct Status {
    struct Cause {
        std::string_view reason, message;
    };
    std::int64_t code = 0;
    std::int64_t retry_after_seconds = 0;
    std::string_view message, reason;
    std::vector<Cause> causes;
};

/// The type information of a document.
struct DocumentHead {
    std::string_view kind;        ///< absent in list items
    Status status;                ///< instead of an object
    bool managed_fields = false;  ///< the object has them; only for any resource
};

/// A decoded object.
template <class Object>
struct Document : Object, DocumentHead {
    /// Decoders handle the object as a `void*`.
    static DocumentHead& head_of(void* object) noexcept {
        return static_cast<Document&>(*static_cast<Object*>(object));
    }
};

/// For kinds with only their metadata decoded.
struct MetadataOnly {
    api::ObjectMeta metadata;
};

}  // namespace k8s_sd::inline v0::detail::model
