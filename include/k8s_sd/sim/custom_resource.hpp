#pragma once

#include <string>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// A resource of a CustomResourceDefinition, see ApiServer::add_resource().
struct CustomResource {
    std::string group{};   ///< "example.com"
    std::string kind{};    ///< "Widget"
    std::string plural{};  ///< "widgets"
    /// Served versions: the discovery documents name the alphabetically first of all versions of
    /// the group as the preferred one.
    std::vector<std::string> versions{"v1"};
    bool namespaced = true;  ///< `scope` of the definition: "Namespaced", not "Cluster"
};

}  // namespace k8s_sd::inline v0::sim
