#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/sd_config_reader.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/selector.hpp"

#include <filesystem>
#include <map>

namespace k8s_sd::inline v0 {

namespace {

using detail::YamlValue;

/// Another name of role endpointslice.
constexpr std::string_view role_alias = "endpointslices";

/// Fills a DiscoveryConfig and remembers where each field came from, so that what validate()
/// finds can be told by file, line and key.
class SdConfigReader {
 public:
    SdConfigReader(LabelDialect dialect, const std::string& file_name)
        : rules_(detail::rules_of(dialect)),
          directory_(std::filesystem::path(file_name).parent_path()) {
        config_.dialect = dialect;
    }

    DiscoveryConfig read(const YamlValue& entry) {
        read_entry(entry);
        try {
            validate(config_);
        } catch (const ConfigError& e) {
            throw ConfigError(locate(e.where(), entry), e.problem());
        }
        return std::move(config_);
    }

 private:
    void read_entry(const YamlValue& entry) {
        refuse_unsupported(entry);
        entry.allow_only({"role", "api_server", "kubeconfig_file", "namespaces", "selectors",
                          "attach_metadata", "bearer_token", "bearer_token_file", "authorization",
                          "basic_auth", "tls_config", "follow_redirects", "enable_http2"});
        config_.role = read_role(entry["role"]);
        read_auth(entry);
        read_tls(entry["tls_config"]);
        read_server(entry);
        read_namespaces(entry["namespaces"]);
        read_selectors(entry["selectors"]);
        read_attach_metadata(entry["attach_metadata"]);
        read_http_switch(entry["follow_redirects"]);
        read_http_switch(entry["enable_http2"]);
    }

    static void refuse_unsupported(const YamlValue& entry) {
        for (const char* key : {"oauth2", "proxy_url", "no_proxy", "proxy_from_environment",
                                "proxy_connect_header", "http_headers", "headers"}) {
            if (entry.has(key)) entry[key].fail("is not supported yet");
        }
    }

    Role read_role(const YamlValue& value) const {
        try {
            return parse_role(value.string(), config_.dialect);
        } catch (const ConfigError& e) {
            value.fail(e.problem());
        }
    }

    // Credentials.

    void read_auth(const YamlValue& entry) {
        const char* first = nullptr;
        for (const char* key :
             {"bearer_token", "bearer_token_file", "authorization", "basic_auth"}) {
            if (entry[key].is_null()) continue;
            if (first) entry[key].fail("must not be set together with " + std::string(first));
            first = key;
        }
        text(entry["bearer_token"], "api_server.auth.bearer_token", auth().bearer_token);
        path(entry["bearer_token_file"], "api_server.auth.bearer_token_file",
             auth().bearer_token_file);
        read_authorization(entry["authorization"]);
        read_basic_auth(entry["basic_auth"]);
    }

    void read_authorization(const YamlValue& value) {
        if (value.is_null()) return;
        value.allow_only({"type", "credentials", "credentials_file"});
        const std::string type = detail::lower_case(detail::trim(value["type"].string()));
        if (type == "basic") value["type"].fail("use basic_auth for basic authentication");
        if (!type.empty() && type != "bearer") {
            value["type"].fail("is not supported yet; allowed is Bearer");
        }
        if (value["credentials"].is_empty() && value["credentials_file"].is_empty()) {
            value.fail("needs credentials or credentials_file");
        }
        text(value["credentials"], "api_server.auth.bearer_token", auth().bearer_token);
        path(value["credentials_file"], "api_server.auth.bearer_token_file",
             auth().bearer_token_file);
        if (!auth().bearer_token.empty() && !auth().bearer_token_file.empty()) {
            value["credentials_file"].fail("must not be set together with credentials");
        }
    }

    void read_basic_auth(const YamlValue& value) {
        if (value.is_null()) return;
        value.allow_only({"username", "username_file", "password", "password_file"});
        if (value.has("username_file")) {
            value["username_file"].fail("is not supported yet; use username");
        }
        if (value["username"].is_empty()) value.fail("needs username");
        text(value["username"], "api_server.auth.username", auth().username);
        text(value["password"], "api_server.auth.password", auth().password);
        path(value["password_file"], "api_server.auth.password_file", auth().password_file);
    }

    // Server.

    void read_tls(const YamlValue& value) {
        if (value.is_null()) return;
        value.allow_only({"ca", "ca_file", "cert", "cert_file", "key", "key_file", "server_name",
                          "insecure_skip_verify", "min_version", "max_version"});
        TlsConfig& tls = config_.api_server.tls;
        text(value["ca"], "api_server.tls.ca", tls.ca);
        path(value["ca_file"], "api_server.tls.ca_file", tls.ca_file);
        text(value["cert"], "api_server.tls.cert", tls.cert);
        path(value["cert_file"], "api_server.tls.cert_file", tls.cert_file);
        text(value["key"], "api_server.tls.key", tls.key);
        path(value["key_file"], "api_server.tls.key_file", tls.key_file);
        text(value["server_name"], "api_server.tls.server_name", tls.server_name);
        tls.insecure_skip_verify = value["insecure_skip_verify"].boolean();
        remember("api_server.tls.insecure_skip_verify", value["insecure_skip_verify"]);
        check_tls_versions(value);
    }

    static void check_tls_versions(const YamlValue& tls) {
        if (tls.has("max_version")) tls["max_version"].fail("is not supported yet");
        const YamlValue least = tls["min_version"];
        const std::string version = least.string();
        if (version.empty() || version == "TLS12") return;
        if (version == "TLS10" || version == "TLS11") {
            least.fail("the least version is TLS 1.2; allowed is TLS12");
        }
        if (version == "TLS13") least.fail("TLS13 is not supported yet; allowed is TLS12");
        least.fail("is no TLS version; allowed is TLS12");
    }

    void read_server(const YamlValue& entry) {
        const YamlValue url = entry["api_server"];
        text(url, "api_server.url", config_.api_server.url);
        if (!url.is_null() && config_.api_server.url.empty() && rules_.refuses_empty_api_server) {
            url.fail("must not be empty; leave it out for in-cluster access");
        }
        // vmagent: the mere presence of tls_config makes an address without scheme https.
        if (!entry["tls_config"].is_null() && !config_.api_server.url.empty() &&
            config_.api_server.url.find("://") == std::string::npos) {
            config_.api_server.url.insert(0, "https://");
        }
        path(entry["kubeconfig_file"], "kubeconfig_file", config_.kubeconfig_file);
    }

    /// Redirects are never followed and HTTP/1.1 is spoken, whatever is said here.
    void read_http_switch(const YamlValue& value) const {
        if (value.is_null() || value.boolean()) return;
        if (rules_.http_switches_need_api_server && config_.api_server.url.empty()) {
            value.fail("needs the URL of api_server");
        }
    }

    // What to discover.

    void read_namespaces(const YamlValue& value) {
        value.allow_only({"names", "own_namespace"});
        config_.own_namespace = value["own_namespace"].boolean();
        remember("own_namespace", value["own_namespace"]);
        for (const YamlValue& name : value["names"].items()) {
            if (name.is_null()) name.fail("must be a text");
            remember("namespaces[" + std::to_string(config_.namespaces.size()) + "]", name);
            config_.namespaces.push_back(name.string());
        }
    }

    void read_selectors(const YamlValue& value) {
        for (const YamlValue& item : value.items()) {
            item.allow_only({"role", "label", "field"});
            const std::string label = item["label"].string();
            const std::string field = item["field"].string();
            if (rules_.has_role_endpointslices && item["role"].string() == role_alias) {
                read_inert_selector(item);
                continue;
            }
            if (item["role"].string() == "namespace") {
                item["role"].fail("selectors for namespaces are not supported yet");
            }
            const std::string place = "selectors[" + std::to_string(config_.selectors.size()) + "]";
            remember(place + ".role", item["role"]);
            remember(place + ".label", item["label"]);
            remember(place + ".field", item["field"]);
            config_.selectors.push_back({read_role(item["role"]), label, field});
        }
    }

    /// A selector that applies to nothing. Its syntax is checked as that of the others.
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

    // Helpers.

    AuthConfig& auth() { return config_.api_server.auth; }

    void remember(const std::string& field, const YamlValue& value) {
        if (!value.is_null()) locations_.insert_or_assign(field, value.where());
    }

    /// Leaves `target` alone where the key is missing.
    void text(const YamlValue& value, const char* field, std::string& target) {
        if (value.is_null()) return;
        target = value.string();
        remember(field, value);
    }

    void path(const YamlValue& value, const char* field, std::string& target) {
        const std::string name = value.string();
        if (name.starts_with("http://") || name.starts_with("https://")) {
            value.fail("reading it from a URL is not supported yet");
        }
        if (!name.empty()) target = (directory_ / name).string();
        remember(field, value);
    }

    /// The key of a field or of what encloses it.
    std::string locate(std::string field, const YamlValue& entry) const {
        while (!field.empty()) {
            const auto found = locations_.find(field);
            if (found != locations_.end()) return found->second;
            const std::size_t dot = field.rfind('.');
            field.resize(dot == std::string::npos ? 0 : dot);
        }
        return entry.where();
    }

    const detail::DialectRules& rules_;
    std::filesystem::path directory_;
    DiscoveryConfig config_;
    std::map<std::string, std::string> locations_;
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
                                       const std::string& file_name) {
    return SdConfigReader(dialect, file_name).read(entry);
}

Role parse_role(std::string_view name, LabelDialect dialect) {
    if (name == role_alias && detail::rules_of(dialect).has_role_endpointslices) {
        return Role::endpointslice;
    }
    if (const std::optional<Role> role = role_from_string(name)) return *role;
    const std::string problem = name.empty() ? "is missing" : "there is no such role";
    throw ConfigError("role", problem + "; allowed are " + detail::join(role_names));
}

DiscoveryConfig parse_sd_config(std::string_view yaml, LabelDialect dialect,
                                const std::string& file_name) {
    return detail::read_sd_config(only_entry(YamlValue::parse(yaml, file_name)), dialect,
                                  file_name);
}

DiscoveryConfig load_sd_config(const std::string& path, LabelDialect dialect) {
    return parse_sd_config(detail::read_config_file(path, path), dialect, path);
}

}  // namespace k8s_sd::inline v0
