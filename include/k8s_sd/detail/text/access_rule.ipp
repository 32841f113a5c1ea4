#include "k8s_sd/access_rule.hpp"
#include "k8s_sd/detail/text/rule_list.hpp"

namespace k8s_sd::inline v0 {

AccessRule access_to(Kind kind, std::string_view ns) {
    const Resource& resource = resource_of(kind);
    AccessRule rule;
    rule.api_group = resource.group;
    rule.resource = resource.plural;
    rule.namespaced = resource.namespaced;
    if (rule.namespaced) rule.ns = ns;
    return rule;
}

std::string rule_text(const AccessRule& rule) {
    return detail::rule_line(rule.api_group, std::array{rule.resource});
}

std::string to_string(const AccessRule& rule) {
    std::string text = rule.resource;
    if (!rule.api_group.empty()) text += " (API group " + rule.api_group + ")";
    if (!rule.namespaced) return text;
    if (rule.ns == own_namespace_of_pod) return text + " in the namespace of the program's pod";
    return text + (rule.ns.empty() ? " in all namespaces" : " in the namespace " + rule.ns);
}

}  // namespace k8s_sd::inline v0
