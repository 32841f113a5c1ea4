#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/complete_server.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

std::string environment_variable(const char* name) {
    const char* value = std::getenv(name);
    if (!value || !*value) {
        throw ConfigError("in-cluster access",
                          "the environment variable " + std::string(name) +
                              " is not set; outside a pod set the URL of api_server or "
                              "kubeconfig_file");
    }
    return value;
}

ApiServerConfig in_cluster_server(const InClusterFiles& files) {
    const std::string host = environment_variable("KUBERNETES_SERVICE_HOST");
    const std::string port = environment_variable("KUBERNETES_SERVICE_PORT");
    ApiServerConfig server;
    // Some environments already put an IPv6 address in brackets.
    server.url = "https://" +
                 (host.starts_with('[') ? host + ":" + port : detail::join_host_port(host, port));
    server.auth.bearer_token_file = files.directory + "/token";
    server.tls.ca_file = files.directory + "/ca.crt";
    // Missing files are reported at once; later rotations are read on use.
    for (const std::string& path : {server.auth.bearer_token_file, server.tls.ca_file}) {
        if (detail::trim(detail::read_config_file(path, "in-cluster access")).empty()) {
            throw ConfigError("in-cluster access", path + " is empty");
        }
    }
    return server;
}

ApiServerConfig resolve_server(const DiscoveryConfig& config, const InClusterFiles& files) {
    using enum detail::EnvironmentProxies;
    const ApiServerConfig& own = config.api_server;
    if (!config.kubeconfig_file.empty()) {
        return detail::load_kubeconfig(config.kubeconfig_file, config.kubeconfig_context, own);
    }
    if (own.url.empty()) {
        // The address is internal to the cluster; a proxy outside of it cannot reach it.
        return detail::complete_server(in_cluster_server(files), own, never,
                                       "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT");
    }
    const bool usual = detail::rules_of(config.dialect).uses_proxies_of_environment;
    return detail::complete_server(own, own, usual ? by_default : if_asked_for, "api_server.url");
}

/// Like client-go.
std::string own_namespace(const InClusterFiles& files) {
    std::string source = "the environment variable POD_NAMESPACE";
    const char* variable = std::getenv("POD_NAMESPACE");
    std::string content = variable ? variable : "";
    if (content.empty()) {
        source = files.directory + "/namespace";
        content = detail::read_config_file(source, "own_namespace");
    }
    std::string name(detail::trim(content));
    if (!detail::is_dns_label(name)) {
        throw ConfigError("own_namespace", source + " does not hold the name of a namespace");
    }
    return name;
}

bool watches(const DiscoveryConfig& config, Role role) {
    const std::vector<Role> roles = detail::selector_roles(config.role);
    const auto reads = [&](Role other) {
        return std::find(roles.begin(), roles.end(), other) != roles.end();
    };
    if (role == Role::node && config.role != Role::node) {
        return reads(Role::pod) && config.attach_metadata.node;
    }
    return reads(role);
}

void append_term(std::string& all, const std::string& term) {
    const std::string_view text = detail::trim(term);
    if (text.empty()) return;
    if (!all.empty()) all += ',';
    all += text;
}

std::vector<Selector> resolve_selectors(const DiscoveryConfig& config) {
    std::vector<Selector> result;
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        Selector joined{static_cast<Role>(i), {}, {}};
        for (const Selector& selector : config.selectors) {
            if (selector.role != joined.role || !watches(config, selector.role)) continue;
            append_term(joined.label, selector.label);
            append_term(joined.field, selector.field);
        }
        if (!joined.label.empty() || !joined.field.empty()) result.push_back(std::move(joined));
    }
    return result;
}

}  // namespace

namespace detail {

std::vector<std::string> configured_namespaces(const DiscoveryConfig& config,
                                               const std::function<std::string()>& own) {
    std::vector<std::string> names = config.namespaces;
    const bool always = rules_of(config.dialect).adds_own_namespace_to_listed_ones;
    if (config.own_namespace && (names.empty() || always)) names.push_back(own());
    // An empty name is the cluster-wide collection, a superset of all others.
    if (std::find(names.begin(), names.end(), "") != names.end()) return {};
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace detail

ResolvedConfig resolve(const DiscoveryConfig& config, const InClusterFiles& files) {
    validate(config);
    ResolvedConfig resolved;
    resolved.scope.api_server = resolve_server(config, files);
    resolved.scope.namespaces =
        detail::configured_namespaces(config, [&] { return own_namespace(files); });
    resolved.scope.selectors = resolve_selectors(config);
    resolved.scope.share = config.share;
    if (!config.share.is_all()) resolved.scope.share_role = config.role;
    resolved.scope.watch = config.watch;
    resolved.view.dialect = config.dialect;
    resolved.view.prometheus_version = config.prometheus_version;
    resolved.view.attach_metadata = config.attach_metadata;
    resolved.view.division = config.division;
    resolved.view.cluster = config.cluster;
    // Without a name the label is of no effect.
    if (config.cluster.name.empty()) resolved.view.cluster = {};
    return resolved;
}

}  // namespace k8s_sd::inline v0
