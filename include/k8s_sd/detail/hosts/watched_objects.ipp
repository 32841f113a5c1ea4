#include "k8s_sd/detail/base/did_you_mean.hpp"
#include "k8s_sd/detail/base/kubernetes_names.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/groups/required_rules.hpp"
#include "k8s_sd/detail/groups/watched_namespaces.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/kinds/object_form.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {

namespace {

/// What discovery has in common with it. The role does not matter.
DiscoveryConfig discovery_config(const WatcherConfig& config) {
    DiscoveryConfig common;
    common.api_server = config.api_server;
    common.kubeconfig_file = config.kubeconfig_file;
    common.kubeconfig_context = config.kubeconfig_context;
    common.namespaces = config.namespaces;
    common.own_namespace = config.own_namespace;
    common.min_update_interval = config.min_update_interval;
    common.watch = config.watch;
    return common;
}

template <class Selector>
void check_selector(const char* field, const std::string& text) {
    try {
        Selector::parse(text);
    } catch (const ConfigError& error) {
        throw ConfigError(std::string("WatcherConfig::") + field, error.problem());
    }
}

void check_fields(Kind kind, const Fields& fields) {
    if (fields.empty())
        throw ConfigError("WatcherConfig::fields", "none is kept; leave it out to keep all");
    const std::vector<std::string> known = field_paths(kind);
    for (const std::string& path : fields.paths()) {
        if (path.empty() || std::binary_search(known.begin(), known.end(), path)) continue;
        const std::vector<std::string_view> names(known.begin(), known.end());
        throw ConfigError("WatcherConfig::fields",
                          in_quotes(printable(path)) + " is no field that is read of " +
                              std::string(to_string(kind)) + did_you_mean(path, names));
    }
}

}  // namespace

WatchScope resolve_scope(const WatcherConfig& config, const InClusterFiles& files) {
    return resolve(discovery_config(config), files).scope;
}

void check_wanted_objects(Kind kind, const WatcherConfig& config) {
    check_selector<LabelSelector>("label_selector", config.label_selector);
    check_selector<FieldSelector>("field_selector", config.field_selector);
    check_fields(kind, config.fields);
}

}  // namespace detail

std::vector<AccessRule> required_access(Kind kind, const WatcherConfig& config) {
    detail::check_wanted_objects(kind, config);
    const DiscoveryConfig common = detail::discovery_config(config);
    validate(common);
    const std::vector<std::string> namespaces =
        detail::configured_namespaces(common, [] { return std::string(own_namespace_of_pod); });
    std::vector<AccessRule> rules;
    for (auto& [rule, of] : detail::required_rules(std::vector<Kind>{kind}, namespaces,
                                                   config.watch.cluster_wide_from))
        rules.push_back(std::move(rule));
    return rules;
}

}  // namespace k8s_sd::inline v0
