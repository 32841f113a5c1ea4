#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/http2_support.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace k8s_sd::inline v0 {

namespace detail {

bool is_header_text(std::string_view text) noexcept {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return is_control(c) && c != '\t'; });
}

void check_version(LabelDialect dialect, PrometheusVersion version) {
    constexpr const char* field = "prometheus_version";
    if (static_cast<std::size_t>(version) >= prometheus_version_names.size()) {
        throw ConfigError(field, "is no version; allowed are " + join(prometheus_version_names));
    }
    if (rules_of(dialect).has_versions || version == PrometheusVersion()) return;
    throw ConfigError(field, "is not for the dialect " + std::string(to_string(dialect)) +
                                 ", which has no versions here; leave it out");
}

void check_namespace_name(const std::string& where, std::string_view name) {
    if (is_dns_label(name)) return;
    throw ConfigError(where, in_quotes(printable(name)) +
                                 " is not a name of a namespace: it has 1 to 63 characters of a-z, "
                                 "0-9 and '-', and neither starts nor ends with '-'");
}

void check_object_name(const std::string& where, std::string_view name, std::string_view resource) {
    if (is_dns_subdomain(name)) return;
    throw ConfigError(where, in_quotes(printable(name)) + " is not a name of " +
                                 std::string(resource) +
                                 ": lower-case letters, digits, '-' and '.' are allowed");
}

std::vector<Role> selector_roles(Role role) {
    using enum Role;
    switch (role) {
#define K8S_SD_CASE(name, kind, ...) \
    case name: return {__VA_ARGS__};
        K8S_SD_ROLES(K8S_SD_CASE)
#undef K8S_SD_CASE
    }
    return {};
}

bool has_role(LabelDialect dialect, Role role) {
    const bool of_gateway_api =
        resource_of(main_kind(role)).group == resource_of(Kind::gateway).group;
    return !of_gateway_api || rules_of(dialect).has_roles_of_gateway_api;
}

std::string missing_role(Role role) {
    return "vmagent has no role " + std::string(to_string(role)) +
           ": it does not discover Gateway API; use Prometheus' dialect";
}

const char* first_server_option(const ApiServerConfig& server) {
    const AuthConfig& auth = server.auth;
    const TlsConfig& tls = server.tls;
    const std::pair<const char*, bool> options[] = {
        {"api_server.auth.bearer_token", !auth.bearer_token.empty()},
        {"api_server.auth.bearer_token_file", !auth.bearer_token_file.empty()},
        {"api_server.auth.username", !auth.username.empty()},
        {"api_server.auth.username_file", !auth.username_file.empty()},
        {"api_server.auth.password", !auth.password.empty()},
        {"api_server.auth.password_file", !auth.password_file.empty()},
        {"api_server.auth.exec", auth.exec.has_value()},
        {"api_server.auth.oauth2", auth.oauth2.has_value()},
        {"api_server.auth.token_source", auth.token_source != nullptr},
        {"api_server.tls.ca", !tls.ca.empty()},
        {"api_server.tls.ca_file", !tls.ca_file.empty()},
        {"api_server.tls.cert", !tls.cert.empty()},
        {"api_server.tls.cert_file", !tls.cert_file.empty()},
        {"api_server.tls.server_name", !tls.server_name.empty()},
        {"api_server.tls.insecure_skip_verify", tls.insecure_skip_verify},
        {"api_server.tls.min_version", tls.min_version != TlsConfig().min_version},
        {"api_server.tls.max_version", tls.max_version != TlsConfig().max_version}};
    const auto* option = std::find_if(std::begin(options), std::end(options),
                                      [](const auto& o) { return o.second; });
    return option == std::end(options) ? nullptr : option->first;
}

}  // namespace detail

namespace {

void check_url(const ApiServerConfig& server) {
    if (server.url.empty()) return;
    try {
        detail::parse_server_url(server.url, server.tls != TlsConfig{});
    } catch (const ConfigError& e) {
        throw ConfigError("api_server.url",
                          e.problem() + "; allowed is http[s]://host:port/prefix");
    }
}

void check_server(const DiscoveryConfig& config) {
    const bool url = !config.api_server.url.empty();
    const bool kubeconfig = !config.kubeconfig_file.empty();
    if (url && kubeconfig) {
        throw ConfigError("kubeconfig_file", "must not be set together with the URL of api_server");
    }
    if (config.kubeconfig_file.find("://") != std::string::npos) {
        throw ConfigError("kubeconfig_file", "a kubeconfig from a URL is not supported yet");
    }
    if (!config.kubeconfig_context.empty() && !kubeconfig) {
        throw ConfigError("kubeconfig_context", "needs kubeconfig_file");
    }
    const char* option = url ? nullptr : detail::first_server_option(config.api_server);
    if (option) {
        throw ConfigError(option, kubeconfig
                                      ? "must not be set together with kubeconfig_file, which has "
                                        "the access to the server"
                                      : "needs the URL of api_server; in-cluster access uses the "
                                        "service account");
    }
}

bool is_plain_label(std::string_view name) {
    return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
           std::all_of(name.begin(), name.end(), [](char c) { return detail::is_word(c); });
}

/// Other names with two underscores have a meaning for agents, or may have one.
bool is_reserved_label(std::string_view name) {
    if (name == "job" || name == "instance") return true;
    return name.starts_with("__") &&
           (!name.starts_with("__meta_") || name.starts_with("__meta_kubernetes_"));
}

void check_cluster(const ClusterName& cluster) {
    constexpr std::size_t max_bytes = 1024;
    if (!is_plain_label(cluster.label)) {
        throw ConfigError("cluster.label",
                          detail::in_quotes(detail::printable(cluster.label)) +
                              " is not a name of a label: it has a-z, A-Z, 0-9 and '_', and does "
                              "not start with a digit");
    }
    if (is_reserved_label(cluster.label)) {
        throw ConfigError("cluster.label", detail::in_quotes(cluster.label) +
                                               " is reserved; use a name such as cluster, or "
                                               "__meta_cluster for a label for relabelling only");
    }
    if (cluster.name.size() > max_bytes || !detail::is_utf8(cluster.name)) {
        throw ConfigError("cluster.name", "must be UTF-8 of at most 1024 bytes");
    }
    if (cluster.name.empty() && cluster.label != ClusterName().label) {
        throw ConfigError("cluster.label", "needs cluster.name, the value of the label");
    }
}

void check_namespaces(const DiscoveryConfig& config) {
    for (std::size_t i = 0; i < config.namespaces.size(); ++i) {
        const std::string& name = config.namespaces[i];
        if (name.empty()) continue;
        detail::check_namespace_name("namespaces[" + std::to_string(i) + "]", name);
    }
    const bool anywhere = !detail::rules_of(config.dialect).refuses_own_namespace_outside_a_pod;
    if (!config.own_namespace || anywhere) return;
    if (!config.api_server.url.empty()) {
        throw ConfigError("own_namespace",
                          "needs in-cluster access, it must not be set together with the URL of "
                          "api_server; list the namespaces by name");
    }
    if (!config.kubeconfig_file.empty()) {
        throw ConfigError("own_namespace",
                          "needs in-cluster access, it must not be set together with "
                          "kubeconfig_file; list the namespaces by name");
    }
}

template <class Parser>
void check_syntax(const std::string& field, const std::string& text) {
    try {
        Parser::parse(text);
    } catch (const ConfigError& e) {
        throw ConfigError(field, e.problem());
    }
}

/// "pod", "pod and node", "pod, service and endpoints"
std::string enumerate(const std::vector<Role>& roles) {
    std::string text;
    for (std::size_t i = 0; i < roles.size(); ++i) {
        if (i > 0) text += i + 1 == roles.size() ? " and " : ", ";
        text += to_string(roles[i]);
    }
    return text;
}

void check_selector_role(Role config_role, Role role, const std::string& field) {
    const std::vector<Role> allowed = detail::selector_roles(config_role);
    if (std::find(allowed.begin(), allowed.end(), role) != allowed.end()) return;
    throw ConfigError(field, "a configuration of role " + std::string(to_string(config_role)) +
                                 " takes selectors for " + enumerate(allowed) + ", not " +
                                 std::string(to_string(role)));
}

void check_selectors(const DiscoveryConfig& config) {
    const detail::DialectRules& rules = detail::rules_of(config.dialect);
    std::set<Role> seen;
    for (std::size_t i = 0; i < config.selectors.size(); ++i) {
        const Selector& selector = config.selectors[i];
        const std::string field = "selectors[" + std::to_string(i) + "]";
        const bool repeated = !seen.insert(selector.role).second;
        if (repeated && rules.refuses_repeated_selectors) {
            throw ConfigError(field + ".role",
                              "there is a selector for role " +
                                  std::string(to_string(selector.role)) +
                                  " already; only one per role is allowed, join them with a comma");
        }
        if (rules.refuses_unused_selectors) {
            check_selector_role(config.role, selector.role, field + ".role");
        }
        check_syntax<FieldSelector>(field + ".field", selector.field);
        check_syntax<LabelSelector>(field + ".label", selector.label);
    }
}

/// A share of one kind does not contain the objects of other kinds joined to its targets.
void check_share(const DiscoveryConfig& config) {
    const bool joins =
        config.role != Role::pod && config.role != Role::node && config.role != Role::service;
    if (config.share.is_all() || !joins) return;
    throw ConfigError("share",
                      "role " + std::string(to_string(config.role)) +
                          " takes labels from objects of other kinds, which are in other shares; "
                          "only roles pod, node and service have shares. Discover everything in "
                          "each replica and drop the targets of others, as k8s_sd::Sharding does, "
                          "or give each replica namespaces of its own");
}

void check_division(const DiscoveryConfig& config) {
    const Division& division = config.division;
    const auto refuse = [](const std::string& problem) { throw ConfigError("division", problem); };
    const bool joins =
        config.role != Role::pod && config.role != Role::node && config.role != Role::service;
    if (division.by == DivideBy::objects && joins) {
        refuse("role " + std::string(to_string(config.role)) +
               " takes labels from objects of other kinds, which other members have; divide it by "
               "namespaces");
    }
    if (division.by == DivideBy::namespaces) {
        if (config.role == Role::node) refuse("nodes have no namespace; divide them by objects");
        if (config.own_namespace) refuse("own_namespace is one namespace, which cannot be divided");
    }
    if (!std::has_single_bit(division.slots) || division.slots > 4096) {
        throw ConfigError("division.slots", "must be a power of two, at most 4096");
    }
}

void check_watch(const WatchOptions& watch) {
    const std::pair<const char*, Duration> durations[] = {
        {"watch.connect_timeout", watch.connect_timeout},
        {"watch.response_timeout", watch.response_timeout},
        {"watch.watch_timeout_min", watch.watch_timeout_min},
        {"watch.backoff_min", watch.backoff_min},
        {"watch.start_jitter", watch.start_jitter}};
    for (const auto& [field, value] : durations) {
        if (value < Duration::zero()) throw ConfigError(field, "must not be negative");
    }
    if (watch.watch_timeout_min > watch.watch_timeout_max) {
        throw ConfigError("watch.watch_timeout_min", "must not exceed watch_timeout_max");
    }
    if (watch.backoff_min == Duration::zero()) {
        throw ConfigError("watch.backoff_min", "must be greater than zero");
    }
    if (watch.backoff_min > watch.backoff_max) {
        throw ConfigError("watch.backoff_min", "must not exceed backoff_max");
    }
    if (watch.poll_interval <= Duration::zero()) {
        throw ConfigError("watch.poll_interval", "must be greater than zero");
    }
    if (watch.max_object_bytes == 0) {
        throw ConfigError("watch.max_object_bytes", "must be greater than zero");
    }
    if (watch.max_objects == 0) {
        throw ConfigError("watch.max_objects", "must be greater than zero");
    }
}

void check_http_version(HttpVersion version) {
    if (version != HttpVersion::http2 || detail::has_http2()) return;
    throw ConfigError("api_server.http_version",
                      "HTTP/2 needs nghttp2, which this build of k8s_sd lacks: build it with "
                      "K8S_SD_HTTP2=ON, or leave the version automatic");
}

}  // namespace

void validate(const DiscoveryConfig& config) {
    if (!detail::has_role(config.dialect, config.role))
        throw ConfigError("role", detail::missing_role(config.role));
    detail::check_auth("api_server.auth", config.api_server.auth);
    detail::check_tls("api_server.tls", config.api_server.tls);
    detail::check_tls_versions("api_server.tls", config.api_server.tls);
    detail::check_tls_versions("api_server.auth", config.api_server.auth);
    detail::check_proxy("api_server.proxy", config.api_server.proxy);
    detail::check_headers("api_server.headers", config.api_server.headers);
    detail::check_impersonation("api_server.impersonate", config.api_server.impersonate);
    check_http_version(config.api_server.http_version);
    detail::check_version(config.dialect, config.prometheus_version);
    check_url(config.api_server);
    check_server(config);
    check_cluster(config.cluster);
    check_namespaces(config);
    check_selectors(config);
    check_share(config);
    check_division(config);
    check_watch(config.watch);
    if (config.min_update_interval < Duration::zero()) {
        throw ConfigError("min_update_interval", "must not be negative");
    }
}

}  // namespace k8s_sd::inline v0
