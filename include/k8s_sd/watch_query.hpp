#pragma once

#include "k8s_sd/kind.hpp"
#include "k8s_sd/object_share.hpp"

#include <compare>
#include <string>

namespace k8s_sd::inline v0 {

/// The collection to watch; together with the server it determines the URL.
struct WatchQuery {
    Kind kind = Kind::pod;       ///< kind of the objects
    std::string ns;              ///< empty: all namespaces
    std::string label_selector;  ///< empty: no filter
    std::string field_selector;  ///< empty: no filter
    ObjectShare share{};  ///< objects outside of the share are dropped if the server sends them
    auto operator<=>(const WatchQuery&) const = default;
};

}  // namespace k8s_sd::inline v0
