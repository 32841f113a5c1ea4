#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <string_view>

namespace k8s_sd::inline v0::api {

/// core/v1 Secret. Its strings are overwritten when the last owner releases the object; copies made
/// by the host are not. Annotations are kept only if named explicitly, see Fields::all():
/// `kubectl apply` stores a copy of the data there.
struct Secret {
    ObjectMeta metadata;
    std::string_view type;  ///< e.g. "kubernetes.io/tls"
    /// The server rejects any change of the data; the object can be deleted.
    bool immutable = false;
    StringMap data;  ///< values as bytes, not base64
    bool operator==(const Secret&) const = default;
};

template <>
inline constexpr Kind kind_of<Secret> = Kind::secret;

}  // namespace k8s_sd::inline v0::api
