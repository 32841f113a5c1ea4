#pragma once

#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/kind.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// See AccessRule::verbs.
inline constexpr std::array<std::string_view, 2> access_verbs{"list", "watch"};

/// "pods", "endpointslices (API group discovery.k8s.io)"
inline std::string access_text(const Resource& resource) {
    std::string text(resource.plural);
    if (!resource.group.empty()) (text += " (API group ").append(resource.group) += ")";
    return text;
}

/// See to_string(const AccessRule&).
/// \param ns  empty: all namespaces. Ignored for resources without namespaces
inline std::string access_text(const Resource& resource, std::string_view ns) {
    const std::string text = access_text(resource);
    if (!resource.namespaced) return text;
    return ns.empty() ? text + " in all namespaces" : text + " in the namespace " + std::string(ns);
}

/// ["list", "watch"]
template <class Range>
std::string flow_list(const Range& items) {
    std::vector<std::string> quoted;
    for (const auto& item : items) quoted.push_back(in_quotes(item));
    return "[" + join(quoted) + "]";
}

/// A rule of a Role for several resources of one API group.
template <class Range>
std::string rule_line(std::string_view api_group, const Range& resources) {
    return "{apiGroups: [" + in_quotes(api_group) + "], resources: " + flow_list(resources) +
           ", verbs: " + flow_list(access_verbs) + "}";
}

}  // namespace k8s_sd::inline v0::detail
