#pragma once

#include "k8s_sd/access_rule.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

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
           ", verbs: " + flow_list(AccessRule::verbs) + "}";
}

}  // namespace k8s_sd::inline v0::detail
