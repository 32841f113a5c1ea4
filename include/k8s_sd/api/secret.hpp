#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <string_view>

namespace k8s_sd::inline v0::api {

/// core/v1 Secret. Its texts are overwritten when the last owner of the object goes; what a host
/// copies of them is not. The annotations are kept only for who names them, see Fields::all():
/// `kubectl apply` puts a copy of the data there.
struct Secret {
    ObjectMeta metadata;
    std::string_view type;  ///< e.g. "kubernetes.io/tls"
    /// The server accepts no change of the data any more; the object can be deleted.
    bool immutable = false;
    StringMap data;  ///< the values are bytes, not in base64
    bool operator==(const Secret&) const = default;
};

template <>
inline constexpr Kind kind_of<Secret> = Kind::secret;

}  // namespace k8s_sd::inline v0::api
