#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/sd_config_reader.hpp"
#include "k8s_sd/detail/config/variables.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/text/did_you_mean.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/selector.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

namespace {

using detail::YamlValue;

/// An alias of role endpointslice.
constexpr std::string_view role_alias = "endpointslices";

/// Fills a DiscoveryConfig. Errors of validate() name file, line and key.
class SdConfigReader {
 public:
    SdConfigReader(LabelDialect dialect, const std::string& file_name, detail::Mistakes& mistakes)
        : rules_(detail::rules_of(dialect)),
          mistakes_(mistakes),
          places_(std::filesystem::path(file_name).parent_path()) {
        config_.dialect = dialect;
    }

    DiscoveryConfig read(const YamlValue& entry) {
        const std::size_t before = mistakes_.count();
        mistakes_.attempt([&] { read_entry(entry); });
        if (mistakes_.count() == before) mistakes_.attempt([&] { check(entry); });
        return std::move(config_);
    }

 private:
    void read_entry(const YamlValue& entry) {
        allow_known_keys(entry);
        mistakes_.attempt([&] { config_.role = read_role(entry["role"]); });
        mistakes_.attempt([&] {
            detail::read_http_client(entry, config_.dialect, "api_server", config_.api_server,
                                     places_);
        });
        mistakes_.attempt([&] { read_server(entry); });
        mistakes_.attempt([&] { read_cluster(entry); });
        mistakes_.attempt([&] { read_namespaces(entry["namespaces"]); });
        mistakes_.attempt([&] { read_selectors(entry["selectors"]); });
        mistakes_.attempt([&] { read_attach_metadata(entry["attach_metadata"]); });
        mistakes_.attempt([&] { read_http_options(entry); });
    }

    void check(const YamlValue& entry) {
        try {
            if (rules_.ignores_credentials_without_api_server && config_.api_server.url.empty()) {
                forget_credentials(config_.api_server);
            }
            validate(config_);
        } catch (const ConfigError& e) {
            throw ConfigError(places_.locate(e.where(), entry), e.problem());
        }
    }

    /// Drops all credentials but those of the token service, after validating them.
    static void forget_credentials(ApiServerConfig& server) {
        detail::check_auth("api_server.auth", server.auth);
        detail::check_tls("api_server.tls", server.tls);
        AuthConfig kept;
        kept.oauth2 = std::move(server.auth.oauth2);
        server.auth = std::move(kept);
        server.tls = {};
    }

    void allow_known_keys(const YamlValue& entry) {
        std::vector<std::string_view> keys{
            "role",          "api_server", "kubeconfig_file", "kubeconfig_context", "cluster",
            "cluster_label", "namespaces", "selectors",       "attach_metadata"};
        keys.insert(keys.end(), detail::http_client_keys.begin(), detail::http_client_keys.end());
        detail::refuse_proxy_credentials(entry);
        mistakes_.allow_only(entry, keys);
    }

    Role read_role(const YamlValue& value) const {
        try {
            return parse_role(value.string(), config_.dialect);
        } catch (const ConfigError& e) {
            value.fail(e.problem());
        }
    }

    // Server.

    void read_server(const YamlValue& entry) {
        const YamlValue url = entry["api_server"];
        places_.text(url, "api_server.url", config_.api_server.url);
        if (!url.is_null() && config_.api_server.url.empty() && rules_.refuses_empty_api_server) {
            url.fail("must not be empty; leave it out for in-cluster access");
        }
        // As in vmagent, tls_config turns an address without scheme into https, in both dialects:
        // Prometheus would send credentials in clear text.
        if (!entry["tls_config"].is_null() && !config_.api_server.url.empty() &&
            config_.api_server.url.find("://") == std::string::npos) {
            config_.api_server.url.insert(0, "https://");
        }
        places_.path(entry["kubeconfig_file"], "kubeconfig_file", config_.kubeconfig_file);
    }

    /// Keys of k8s_sd only.
    void read_cluster(const YamlValue& entry) {
        places_.text(entry["kubeconfig_context"], "kubeconfig_context", config_.kubeconfig_context);
        places_.text(entry["cluster"], "cluster.name", config_.cluster.name);
        places_.text(entry["cluster_label"], "cluster.label", config_.cluster.label);
    }

    /// Redirects are never followed, regardless of the option.
    void read_http_options(const YamlValue& entry) {
        const bool free = !rules_.http_options_need_api_server || !config_.api_server.url.empty();
        for (const char* key : {"follow_redirects", "enable_http2"}) {
            const YamlValue value = entry[key];
            if (!value.is_null() && !value.boolean() && !free) need_server(value);
        }
        for (const char* key : {"proxy_url", "http_headers", "headers"}) {
            if (!entry[key].is_empty() && !free) need_server(entry[key]);
        }
        const YamlValue http2 = entry["enable_http2"];
        if (!http2.is_null() && !http2.boolean())
            config_.api_server.http_version = HttpVersion::http1;
        const YamlValue environment = entry["proxy_from_environment"];
        if (environment.boolean() && !free) need_server(environment);
    }

    [[noreturn]] void need_server(const YamlValue& value) const {
        if (config_.kubeconfig_file.empty()) value.fail("needs the URL of api_server");
        value.fail("must not be set together with kubeconfig_file in the dialect of Prometheus");
    }

    // Scope of the discovery.

    void read_namespaces(const YamlValue& value) {
        value.allow_only({"names", "own_namespace"});
        config_.own_namespace = value["own_namespace"].boolean();
        places_.remember("own_namespace", value["own_namespace"]);
        for (const YamlValue& name : value["names"].items()) {
            if (name.is_null()) name.fail("must be a text");
            places_.remember("namespaces[" + std::to_string(config_.namespaces.size()) + "]", name);
            config_.namespaces.push_back(name.string());
        }
    }

    void read_selectors(const YamlValue& value) {
        for (const YamlValue& item : value.items()) {
            item.allow_only({"role", "label", "field"});
            const std::string label = item["label"].string();
            const std::string field = item["field"].string();
            const std::string role = item["role"].string();
            if (role == "namespace") {
                item["role"].fail("selectors for namespaces are not supported yet");
            }
            if (!rules_.refuses_unused_selectors && !names_watched_kind(role)) {
                read_inert_selector(item);
                continue;
            }
            const std::string place = "selectors[" + std::to_string(config_.selectors.size()) + "]";
            places_.remember(place + ".role", item["role"]);
            places_.remember(place + ".label", item["label"]);
            places_.remember(place + ".field", item["field"]);
            config_.selectors.push_back({read_role(item["role"]), label, field});
        }
    }

    /// Whether any role of the dialect has watches of this name. The alias does not count.
    bool names_watched_kind(std::string_view role) const {
        const std::optional<Role> known = role_from_string(role);
        return known && detail::has_role(config_.dialect, *known);
    }

    /// A selector without effect. Its syntax is checked like that of others.
    static void read_inert_selector(const YamlValue& item) {
        const auto check = [&](const char* key, auto parse) {
            try {
                parse(item[key].string());
            } catch (const ConfigError& e) {
                item[key].fail(e.problem());
            }
        };
        check("label", [](const std::string& text) { LabelSelector::parse(text); });
        check("field", [](const std::string& text) { FieldSelector::parse(text); });
    }

    void read_attach_metadata(const YamlValue& value) {
        value.allow_only({"node", "namespace", "deployment", "job", "cronjob"});
        AttachMetadata& attach = config_.attach_metadata;
        attach.node = value["node"].boolean();
        attach.namespace_ = value["namespace"].boolean();
        attach.deployment = value["deployment"].boolean();
        attach.job = value["job"].boolean();
        attach.cronjob = value["cronjob"].boolean();
    }

    const detail::DialectRules& rules_;
    detail::Mistakes& mistakes_;
    detail::FieldPlaces places_;
    DiscoveryConfig config_;
};

YamlValue only_entry(const YamlValue& document) {
    if (!document.is_sequence()) return document;
    const std::vector<YamlValue> entries = document.items();
    if (entries.size() != 1) {
        document.fail("there are " + std::to_string(entries.size()) +
                      " entries; exactly one is allowed");
    }
    return entries.front().as_root();
}

}  // namespace

DiscoveryConfig detail::read_sd_config(const YamlValue& entry, LabelDialect dialect,
                                       const std::string& file_name, Mistakes& mistakes) {
    return SdConfigReader(dialect, file_name, mistakes).read(entry);
}

Role parse_role(std::string_view name, LabelDialect dialect) {
    if (name == role_alias && detail::rules_of(dialect).has_role_endpointslices) {
        return Role::endpointslice;
    }
    if (const std::optional<Role> role = role_from_string(name)) {
        if (!detail::has_role(dialect, *role))
            throw ConfigError("role", detail::missing_role(*role));
        return *role;
    }
    std::vector<std::string_view> names;
    for (const std::string_view known : role_names) {
        if (detail::has_role(dialect, *role_from_string(known))) names.push_back(known);
    }
    const std::string problem = name.empty() ? "is missing" : "there is no such role";
    throw ConfigError("role", problem + detail::did_you_mean(name, names) + "; allowed are " +
                                  detail::join(names));
}

PrometheusVersion parse_prometheus_version(std::string_view name) {
    if (const auto version = prometheus_version_from_string(name)) return *version;
    const std::string problem =
        name.empty() ? "is missing"
                     : "there is no version " + detail::in_quotes(detail::printable(name));
    throw ConfigError("prometheus_version",
                      problem + "; allowed are " + detail::join(prometheus_version_names));
}

DiscoveryConfig parse_sd_config(std::string_view yaml, LabelDialect dialect,
                                const std::string& file_name, const VariableLookup& variables,
                                std::size_t max_bytes) {
    const std::string text =
        detail::expand_variables(yaml, dialect, variables, file_name, max_bytes);
    detail::Mistakes mistakes;
    DiscoveryConfig config = detail::read_sd_config(only_entry(YamlValue::parse(text, file_name)),
                                                    dialect, file_name, mistakes);
    mistakes.throw_any();
    return config;
}

DiscoveryConfig load_sd_config(const std::string& path, LabelDialect dialect,
                               const VariableLookup& variables, std::size_t max_bytes) {
    return parse_sd_config(detail::read_config_file(path, path, max_bytes), dialect, path,
                           variables, max_bytes);
}

}  // namespace k8s_sd::inline v0
