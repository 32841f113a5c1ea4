#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/kubernetes_names.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>

namespace k8s_sd::inline v0 {

namespace detail {

bool is_header_text(std::string_view text) noexcept {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return is_control(c) && c != '\t'; });
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

}  // namespace detail

namespace {

/// An option: its field and whether it is set.
struct Option {
    const char* field;
    bool set;
};

void check_at_most_one(std::initializer_list<Option> options) {
    const Option* first = nullptr;
    for (const Option& option : options) {
        if (!option.set) continue;
        if (first) {
            const std::string_view other = first->field;
            throw ConfigError(option.field, "must not be set together with " +
                                                std::string(other.substr(other.rfind('.') + 1)));
        }
        first = &option;
    }
}

void check_header_text(const char* field, const std::string& value) {
    if (!detail::is_header_text(value)) {
        throw ConfigError(field, "must not contain a line break or another control character");
    }
}

void check_auth(const AuthConfig& auth) {
    const bool password = !auth.password.empty() || !auth.password_file.empty();
    check_at_most_one({{"api_server.auth.bearer_token", !auth.bearer_token.empty()},
                       {"api_server.auth.bearer_token_file", !auth.bearer_token_file.empty()},
                       {"api_server.auth.username", !auth.username.empty() || password}});
    check_at_most_one({{"api_server.auth.password", !auth.password.empty()},
                       {"api_server.auth.password_file", !auth.password_file.empty()}});
    if (password && auth.username.empty()) {
        throw ConfigError(auth.password.empty() ? "api_server.auth.password_file"
                                                : "api_server.auth.password",
                          "needs username");
    }
    if (auth.username.find(':') != std::string::npos) {
        throw ConfigError("api_server.auth.username", "must not contain a colon");
    }
    check_header_text("api_server.auth.bearer_token", auth.bearer_token);
    check_header_text("api_server.auth.username", auth.username);
    check_header_text("api_server.auth.password", auth.password);
}

void check_tls(const TlsConfig& tls) {
    check_at_most_one(
        {{"api_server.tls.ca", !tls.ca.empty()}, {"api_server.tls.ca_file", !tls.ca_file.empty()}});
    check_at_most_one({{"api_server.tls.cert", !tls.cert.empty()},
                       {"api_server.tls.cert_file", !tls.cert_file.empty()}});
    check_at_most_one({{"api_server.tls.key", !tls.key.empty()},
                       {"api_server.tls.key_file", !tls.key_file.empty()}});
    const bool cert = !tls.cert.empty() || !tls.cert_file.empty();
    const bool key = !tls.key.empty() || !tls.key_file.empty();
    if (cert && !key) {
        throw ConfigError(tls.cert.empty() ? "api_server.tls.cert_file" : "api_server.tls.cert",
                          "needs the private key: set key or key_file");
    }
    if (key && !cert) {
        throw ConfigError(tls.key.empty() ? "api_server.tls.key_file" : "api_server.tls.key",
                          "needs the certificate: set cert or cert_file");
    }
    check_header_text("api_server.tls.server_name", tls.server_name);
}

void check_url(const ApiServerConfig& server) {
    if (server.url.empty()) return;
    try {
        detail::parse_server_url(server.url, server.tls != TlsConfig{});
    } catch (const ConfigError& e) {
        throw ConfigError("api_server.url",
                          e.problem() + "; allowed is http[s]://host:port/prefix");
    }
}

/// Which of the options of a server given by URL is set, or null.
const char* first_server_option(const ApiServerConfig& server) {
    const AuthConfig& auth = server.auth;
    const TlsConfig& tls = server.tls;
    const Option options[] = {
        {"api_server.auth.bearer_token", !auth.bearer_token.empty()},
        {"api_server.auth.bearer_token_file", !auth.bearer_token_file.empty()},
        {"api_server.auth.username", !auth.username.empty()},
        {"api_server.tls.ca", !tls.ca.empty()},
        {"api_server.tls.ca_file", !tls.ca_file.empty()},
        {"api_server.tls.cert", !tls.cert.empty()},
        {"api_server.tls.cert_file", !tls.cert_file.empty()},
        {"api_server.tls.server_name", !tls.server_name.empty()},
        {"api_server.tls.insecure_skip_verify", tls.insecure_skip_verify}};
    const auto* option =
        std::find_if(std::begin(options), std::end(options), [](const Option& o) { return o.set; });
    return option == std::end(options) ? nullptr : option->field;
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
    const char* option = url ? nullptr : first_server_option(config.api_server);
    if (option) {
        throw ConfigError(option, kubeconfig
                                      ? "must not be set together with kubeconfig_file, which says "
                                        "how to talk to the server"
                                      : "needs the URL of api_server; in-cluster access uses the "
                                        "service account");
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

}  // namespace

void validate(const DiscoveryConfig& config) {
    check_auth(config.api_server.auth);
    check_tls(config.api_server.tls);
    check_url(config.api_server);
    check_server(config);
    check_namespaces(config);
    check_selectors(config);
    check_watch(config.watch);
    if (config.min_update_interval < Duration::zero()) {
        throw ConfigError("min_update_interval", "must not be negative");
    }
}

}  // namespace k8s_sd::inline v0
