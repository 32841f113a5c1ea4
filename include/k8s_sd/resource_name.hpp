#pragma once

#include <optional>
#include <string>

namespace k8s_sd::inline v0 {

/// The resource of a Watcher<Generic>: any resource of the server, including custom ones. Group and
/// kind suffice; the watcher requests the rest from the server (`GET /apis/<group>` and
/// `GET /apis/<group>/<version>`, allowed for every authenticated user). With version, plural and
/// namespaced set it sends no such request.
struct ResourceName {
    std::string group{};    ///< "example.com"; empty: the core group
    std::string kind{};     ///< "Widget"
    std::string version{};  ///< "v1"; empty: the server's preferred version with this kind
    std::string plural{};   ///< "widgets"; empty: as the server reports
    /// Whether the objects are in namespaces; nullopt: as the server reports.
    std::optional<bool> namespaced{};
};

}  // namespace k8s_sd::inline v0
