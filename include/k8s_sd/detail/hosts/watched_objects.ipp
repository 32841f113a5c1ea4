#include "k8s_sd/access.hpp"
#include "k8s_sd/detail/access/required_rules.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/sharing/watch_plan.hpp"
#include "k8s_sd/detail/text/did_you_mean.hpp"
#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {

namespace {

/// The options in common with discovery. The role does not matter.
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
        // An unknown kind may have any field, but its metadata are known.
        if (kind == any_other_kind && !path.starts_with("metadata.")) continue;
        const std::vector<std::string_view> names(known.begin(), known.end());
        throw ConfigError("WatcherConfig::fields",
                          in_quotes(printable(path)) + " is no field that is read of " +
                              std::string(is_built_in(kind) ? to_string(kind) : "any resource") +
                              did_you_mean(path, names));
    }
}

void check_name(const char* field, const std::string& name, const char* example, bool dots) {
    if (name.empty() || (dots ? is_dns_subdomain(name) : is_dns_label(name))) return;
    throw ConfigError(std::string("WatcherConfig::resource.") + field,
                      in_quotes(printable(name)) + " is none; " + example + " is one");
}

void check_resource(const ResourceName& name) {
    if (name.kind.empty()) {
        throw ConfigError("WatcherConfig::resource",
                          "a Watcher<Generic> needs a group and a kind, such as "
                          "{.group = \"example.com\", .kind = \"Widget\"}");
    }
    check_name("group", name.group, "\"example.com\"", true);
    check_name("version", name.version, "\"v1\"", false);
    check_name("plural", name.plural, "\"widgets\"", true);
}

void check_no_resource(const ResourceName& name) {
    if (name.kind.empty() && name.group.empty() && name.version.empty() && name.plural.empty() &&
        !name.namespaced) {
        return;
    }
    throw ConfigError("WatcherConfig::resource",
                      "this is for Watcher<Generic>; here the struct determines the resource");
}

}  // namespace

WatchScope resolve_scope(const WatcherConfig& config, const InClusterFiles& files) {
    return resolve(discovery_config(config), files).scope;
}

void check_wanted_objects(Kind kind, const WatcherConfig& config) {
    kind == any_other_kind ? check_resource(config.resource) : check_no_resource(config.resource);
    check_selector<LabelSelector>("label_selector", config.label_selector);
    check_selector<FieldSelector>("field_selector", config.field_selector);
    check_fields(kind, config.fields);
}

std::optional<Kind> kind_of_resource(const ResourceName& name) {
    if (name.version.empty() || name.plural.empty() || !name.namespaced) return std::nullopt;
    return other_kind({name.kind, name.group, name.version, name.plural, *name.namespaced});
}

namespace {

std::vector<AccessRule> access_to_objects(Kind kind, const WatcherConfig& config) {
    const DiscoveryConfig common = discovery_config(config);
    validate(common);
    const std::vector<std::string> namespaces =
        configured_namespaces(common, [] { return std::string(own_namespace_of_pod); });
    std::vector<AccessRule> rules;
    for (auto& [rule, of] :
         required_rules(std::vector<Kind>{kind}, namespaces, config.watch.cluster_wide_from))
        rules.push_back(std::move(rule));
    return rules;
}

}  // namespace

}  // namespace detail

std::vector<AccessRule> required_access(Kind kind, const WatcherConfig& config) {
    if (kind == any_other_kind) return required_access(config);
    detail::check_wanted_objects(kind, config);
    return detail::access_to_objects(kind, config);
}

std::vector<AccessRule> required_access(const WatcherConfig& config) {
    detail::check_wanted_objects(any_other_kind, config);
    const ResourceName& name = config.resource;
    if (name.plural.empty()) {
        throw ConfigError("WatcherConfig::resource.plural",
                          "permissions are for the plural name, such as \"widgets\": set it");
    }
    return detail::access_to_objects(other_kind({name.kind, name.group, name.version, name.plural,
                                                 name.namespaced.value_or(true)}),
                                     config);
}

}  // namespace k8s_sd::inline v0
