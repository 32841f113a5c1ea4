#pragma once

#include "k8s_sd/kind.hpp"
#include "k8s_sd/object_share.hpp"

#include <compare>
#include <string>

namespace k8s_sd::inline v0 {

/// Which collection to watch; together with the server it makes the URL.
struct WatchQuery {
    Kind kind = Kind::pod;       ///< of the objects
    std::string ns;              ///< empty: all namespaces
    std::string label_selector;  ///< empty: no filter
    std::string field_selector;  ///< empty: no filter
    ObjectShare share{};         ///< objects outside of it are dropped, whoever sends them
    auto operator<=>(const WatchQuery&) const = default;
};

}  // namespace k8s_sd::inline v0
