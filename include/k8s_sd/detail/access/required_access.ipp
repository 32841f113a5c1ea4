#include "k8s_sd/access.hpp"
#include "k8s_sd/detail/access/required_rules.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/detail/sharing/watch_plan.hpp"
#include "k8s_sd/detail/text/access_text.hpp"
#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string_view>

namespace k8s_sd::inline v0 {

static_assert(AccessRule::verbs == detail::access_verbs);

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
    const Resource resource{{}, rule.api_group, {}, rule.resource, rule.namespaced};
    if (rule.namespaced && rule.ns == own_namespace_of_pod)
        return detail::access_text(resource) + " in the namespace of the program's pod";
    return detail::access_text(resource, rule.ns);
}

namespace detail {

std::vector<KindAccess> required_rules(Role role, const AttachMetadata& attach,
                                       const std::vector<std::string>& namespaces,
                                       std::size_t cluster_wide_from) {
    return required_rules(needed_kinds(role, attach), namespaces, cluster_wide_from);
}

std::vector<KindAccess> required_rules(const std::vector<Kind>& kinds,
                                       const std::vector<std::string>& namespaces,
                                       std::size_t cluster_wide_from) {
    std::vector<KindAccess> rules;
    const auto add = [&](Kind kind, const std::string& ns, bool optional) {
        AccessRule rule = access_to(kind, ns);
        rule.optional = optional;
        rules.emplace_back(std::move(rule), kind);
    };
    for (const Kind kind : kinds) {
        const auto needed = watched_namespaces(kind, namespaces, 0);
        const auto first = watched_namespaces(kind, namespaces, cluster_wide_from);
        for (const std::string& ns : needed) add(kind, ns, false);
        if (first == needed) continue;
        for (const std::string& ns : first) add(kind, ns, true);
    }
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    return rules;
}

}  // namespace detail

std::vector<AccessRule> required_access(const DiscoveryConfig& config) {
    validate(config);
    const std::vector<std::string> namespaces =
        detail::configured_namespaces(config, [] { return std::string(own_namespace_of_pod); });
    std::vector<AccessRule> rules;
    for (auto& [rule, kind] : detail::required_rules(config.role, config.attach_metadata,
                                                     namespaces, config.watch.cluster_wide_from)) {
        rules.push_back(std::move(rule));
    }
    return rules;
}

// --- the manifest --------------------------------------------------------------------------------

namespace {

/// Resources by their API group.
using GroupedRules = std::map<std::string, std::vector<std::string>>;

/// The rules for a ClusterRole, and for a Role in each namespace.
struct RbacParts {
    GroupedRules cluster;
    GroupedRules optional;
    std::map<std::string, GroupedRules> namespaces;
};

void check_rbac_name(const std::string& where, std::string_view name, bool label) {
    if (label ? detail::is_dns_label(name) : detail::is_dns_subdomain(name)) return;
    throw ConfigError(where, detail::in_quotes(detail::printable(name)) +
                                 " is no name; allowed are lower-case "
                                 "letters, digits and hyphens between them");
}

void check_rbac(const RbacOptions& options) {
    // Names of roles may contain colons, unlike those of other objects.
    std::string name = options.name;
    std::replace(name.begin(), name.end(), ':', '-');
    if (!name.empty()) check_rbac_name("RbacOptions::name", name, false);
    check_rbac_name("RbacOptions::service_account", options.service_account, false);
    check_rbac_name("RbacOptions::service_account_namespace", options.service_account_namespace,
                    true);
}

RbacParts parts_of(const std::vector<AccessRule>& rules, const RbacOptions& options) {
    RbacParts parts;
    for (const AccessRule& rule : rules) {
        const bool own = rule.ns == own_namespace_of_pod;
        const std::string& ns = own ? options.service_account_namespace : rule.ns;
        if (!ns.empty()) check_rbac_name("AccessRule::ns", ns, true);
        GroupedRules& part = !ns.empty()     ? parts.namespaces[ns]
                             : rule.optional ? parts.optional
                                             : parts.cluster;
        auto& resources = part[rule.api_group];
        if (std::find(resources.begin(), resources.end(), rule.resource) == resources.end())
            resources.push_back(rule.resource);
    }
    return parts;
}

std::string metadata_text(const std::string& name, const std::string& ns) {
    return "metadata:\n  name: " + detail::in_quotes(name) + "\n" +
           (ns.empty() ? "" : "  namespace: " + detail::in_quotes(ns) + "\n");
}

/// A role and its binding.
/// \param ns  empty: cluster-wide
std::string role_documents(const GroupedRules& rules, const std::string& name,
                           const std::string& ns, const RbacOptions& options) {
    const std::string kind = ns.empty() ? "ClusterRole" : "Role";
    std::string text = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\n" +
                       metadata_text(name, ns) + "rules:\n";
    for (const auto& [group, resources] : rules)
        text += "- " + detail::rule_line(group, resources) + "\n";
    return text + "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "Binding\n" +
           metadata_text(name, ns) +
           "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: " + kind +
           "\n  name: " + detail::in_quotes(name) +
           "\nsubjects:\n- kind: ServiceAccount\n  name: " +
           detail::in_quotes(options.service_account) +
           "\n  namespace: " + detail::in_quotes(options.service_account_namespace) + "\n";
}

std::string commented(const std::string& text) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) result += "# " + line + "\n";
    return result;
}

}  // namespace

std::string rbac_manifest(const std::vector<AccessRule>& rules, const RbacOptions& options) {
    check_rbac(options);
    const RbacParts parts = parts_of(rules, options);
    const std::string name = !options.name.empty() ? options.name
                                                   : "k8s-sd:" + options.service_account_namespace +
                                                         ":" + options.service_account;
    std::string text;
    if (options.with_service_account) {
        text += "---\napiVersion: v1\nkind: ServiceAccount\n" +
                metadata_text(options.service_account, options.service_account_namespace);
    }
    if (!parts.cluster.empty()) text += role_documents(parts.cluster, name, {}, options);
    for (const auto& [ns, part] : parts.namespaces) text += role_documents(part, name, ns, options);
    if (parts.optional.empty()) return text;
    return text +
           "# Optional: with this one watch of the whole cluster takes the place of one in each\n"
           "# namespace. It lets the program read these resources in all namespaces.\n" +
           commented(role_documents(parts.optional, name + "-all-namespaces", {}, options));
}

}  // namespace k8s_sd::inline v0
