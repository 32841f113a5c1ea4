#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

namespace k8s_sd::inline v0::api {

/// core/v1 ConfigMap. No key is in both maps.
struct ConfigMap {
    ObjectMeta metadata;
    /// The server rejects any change of the data; the object can be deleted.
    bool immutable = false;
    StringMap data;         ///< text values
    StringMap binary_data;  ///< values as bytes, not base64
    bool operator==(const ConfigMap&) const = default;
};

template <>
inline constexpr Kind kind_of<ConfigMap> = Kind::configmap;

}  // namespace k8s_sd::inline v0::api
