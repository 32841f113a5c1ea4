#pragma once

#include <optional>
#include <string>

namespace k8s_sd::inline v0 {

/// Which resource a Watcher<Generic> watches: any that the server has, custom ones too. Group and
/// kind suffice; the server is asked for the rest (`GET /apis/<group>` and
/// `GET /apis/<group>/<version>`, which every authenticated user may do).
/// With version, plural and namespaced it is not asked.
struct ResourceName {
    std::string group{};    ///< "example.com"; empty: the core group
    std::string kind{};     ///< "Widget"
    std::string version{};  ///< "v1"; empty: the one that the server prefers of those that have it
    std::string plural{};   ///< "widgets"; empty: what the server says
    /// Whether the objects are in namespaces; nothing: what the server says.
    std::optional<bool> namespaced{};
};

}  // namespace k8s_sd::inline v0
