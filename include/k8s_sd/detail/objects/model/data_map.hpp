#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

namespace k8s_sd::inline v0::detail::model {

/// A Secret or a ConfigMap: named bytes.
struct DataMap {
    ObjectMeta meta;
    std::string_view type;  ///< of a Secret
    bool immutable = false;
    /// Of a ConfigMap both `data` and `binaryData`; their keys differ.
    std::vector<std::pair<std::string_view, std::string_view>> data;
};

}  // namespace k8s_sd::inline v0::detail::model
