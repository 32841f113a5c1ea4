#pragma once

#include "k8s_sd/api/object_meta.hpp"

#include <string_view>

namespace k8s_sd::inline v0::detail::model {

/// A Secret or a ConfigMap: named bytes.
struct DataMap {
    api::ObjectMeta metadata;
    std::string_view type;  ///< of a Secret
    bool immutable = false;
    /// Of a ConfigMap both `data` and `binaryData`; their keys differ.
    api::StringMap data;
};

}  // namespace k8s_sd::inline v0::detail::model
