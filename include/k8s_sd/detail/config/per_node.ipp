#include "k8s_sd/config.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace k8s_sd::inline v0 {

namespace {

/// Adds a term to the field selector of a kind.
void restrict_to(DiscoveryConfig& config, Role kind, const std::string& term) {
    auto selector = std::find_if(config.selectors.begin(), config.selectors.end(),
                                 [&](const Selector& s) { return s.role == kind; });
    if (selector == config.selectors.end()) {
        selector = config.selectors.insert(selector, Selector{kind});
    }
    selector->field += (selector->field.empty() ? "" : ",") + term;
}

/// Empty: all its watches can be restricted to a node.
std::string cluster_wide_part(const DiscoveryConfig& config) {
    if (config.role != Role::pod && config.role != Role::node) {
        return "role " + std::string(to_string(config.role));
    }
    const AttachMetadata& attach = config.attach_metadata;
    if (config.role == Role::node) return {};
    if (attach.namespace_) return "attach_metadata.namespace";
    if (attach.deployment) return "attach_metadata.deployment";
    if (attach.job) return "attach_metadata.job";
    if (attach.cronjob) return "attach_metadata.cronjob";
    return {};
}

}  // namespace

DiscoveryConfig per_node(DiscoveryConfig config, std::string_view node, ClusterWide cluster_wide) {
    if (node.empty()) {
        throw ConfigError("node", "must be the name of a node: the downward API gives it as "
                                  "spec.nodeName");
    }
    if (const std::string part = cluster_wide_part(config); !part.empty()) {
        if (cluster_wide == ClusterWide::allow) return config;
        throw ConfigError(part.starts_with("role") ? "role" : part,
                          part +
                              " cannot be restricted to a node: the server would send every change "
                              "of the cluster to every node. Discover it in a Deployment or "
                              "StatefulSet, or allow it if the cluster is small");
    }
    const std::string name(node);
    if (config.role == Role::pod) restrict_to(config, Role::pod, "spec.nodeName=" + name);
    if (config.role == Role::node || config.attach_metadata.node) {
        restrict_to(config, Role::node, "metadata.name=" + name);
    }
    config.watch.first_list_from_cache = true;
    config.watch.share_selectors = SelectorSharing::never;
    config.watch.cluster_wide_from = 0;
    if (config.watch.start_jitter == Duration::zero()) {
        config.watch.start_jitter = std::chrono::seconds(10);
    }
    return config;
}

}  // namespace k8s_sd::inline v0
