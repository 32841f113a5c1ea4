#pragma once

#include "k8s_sd/detail/objects/model/meta.hpp"

namespace k8s_sd::inline v0::detail::model {

/// A Secret or a ConfigMap: named data.
struct DataMap {
    using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

    ObjectMeta meta;
    std::string_view type;  ///< of a Secret
    bool immutable = false;
    Pairs data;         ///< of a Secret base64, of a ConfigMap the text itself
    Pairs binary_data;  ///< of a ConfigMap: base64
};

}  // namespace k8s_sd::inline v0::detail::model
