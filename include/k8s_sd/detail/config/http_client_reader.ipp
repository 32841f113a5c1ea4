#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/sd_config_reader.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

bool says_something(const YamlValue& value) {
    return !value.is_null() && !(value.is_scalar() && value.is_empty());
}

/// Fails if more than one of the keys has a value, at the second one.
void allow_one_of(const YamlValue& mapping, std::initializer_list<const char*> keys) {
    const char* first = nullptr;
    for (const char* key : keys) {
        if (!says_something(mapping[key])) continue;
        if (first) mapping[key].fail("must not be set together with " + std::string(first));
        first = key;
    }
}

// --- credentials ---------------------------------------------------------------------------------

void read_authorization(const YamlValue& value, const std::string& where, AuthConfig& auth,
                        FieldPlaces& places) {
    if (value.is_null()) return;
    value.allow_only({"type", "credentials", "credentials_file"});
    const std::string scheme(trim(value["type"].string()));
    if (lower_case(scheme) == "basic") {
        value["type"].fail("use basic_auth for basic authentication");
    }
    if (!scheme.empty()) auth.scheme = scheme;
    places.remember(where + ".scheme", value["type"]);
    allow_one_of(value, {"credentials", "credentials_file"});
    places.text(value["credentials"], where + ".bearer_token", auth.bearer_token);
    places.path(value["credentials_file"], where + ".bearer_token_file", auth.bearer_token_file);
}

void read_basic_auth(const YamlValue& value, LabelDialect dialect, const std::string& where,
                     AuthConfig& auth, FieldPlaces& places) {
    if (value.is_null()) return;
    value.allow_only({"username", "username_file", "password", "password_file"});
    allow_one_of(value, {"username", "username_file"});
    allow_one_of(value, {"password", "password_file"});
    const auto keys = {"username", "username_file", "password", "password_file"};
    const bool empty = std::none_of(keys.begin(), keys.end(),
                                    [&](const char* key) { return says_something(value[key]); });
    if (empty && rules_of(dialect).refuses_empty_basic_auth) {
        value.fail("needs username or username_file; or remove the section");
    }
    // Prometheus loads a section without content; it sends no credentials here.
    places.text(value["username"], where + ".username", auth.username);
    places.path(value["username_file"], where + ".username_file", auth.username_file);
    places.text(value["password"], where + ".password", auth.password);
    places.path(value["password_file"], where + ".password_file", auth.password_file);
}

// --- TLS -----------------------------------------------------------------------------------------

/// vmagent ignores the case and an empty text, Prometheus refuses both.
std::optional<TlsVersion> read_version(const YamlValue& value, LabelDialect dialect) {
    if (value.is_null()) return std::nullopt;
    const bool exact = rules_of(dialect).has_exact_tls_versions;
    const std::string text = value.string();
    if (text.empty() && !exact) return std::nullopt;
    static constexpr std::pair<std::string_view, TlsVersion> versions[] = {
        {"TLS10", TlsVersion::tls_1_0},
        {"TLS11", TlsVersion::tls_1_1},
        {"TLS12", TlsVersion::tls_1_2},
        {"TLS13", TlsVersion::tls_1_3}};
    for (const auto& [name, version] : versions) {
        if (text == name || (!exact && lower_case(text) == lower_case(name))) return version;
    }
    value.fail("is not a version of TLS; allowed are TLS10, TLS11, TLS12 and TLS13");
}

/// Compares only versions that are both given, as Prometheus does.
void read_versions(const YamlValue& value, LabelDialect dialect, TlsConfig& tls) {
    const auto min = read_version(value["min_version"], dialect);
    const auto max = read_version(value["max_version"], dialect);
    if (min && max && *min > *max) {
        value["min_version"].fail(
            "must not exceed max_version; lower min_version or raise max_version");
    }
    if (min) tls.min_version = *min;
    if (max) tls.max_version = *max;
}

void read_tls(const YamlValue& value, LabelDialect dialect, const std::string& where,
              TlsConfig& tls, FieldPlaces& places) {
    if (value.is_null()) return;
    value.allow_only({"ca", "ca_file", "cert", "cert_file", "key", "key_file", "server_name",
                      "insecure_skip_verify", "min_version", "max_version"});
    places.text(value["ca"], where + ".ca", tls.ca);
    places.path(value["ca_file"], where + ".ca_file", tls.ca_file);
    places.text(value["cert"], where + ".cert", tls.cert);
    places.path(value["cert_file"], where + ".cert_file", tls.cert_file);
    places.text(value["key"], where + ".key", tls.key);
    places.path(value["key_file"], where + ".key_file", tls.key_file);
    places.text(value["server_name"], where + ".server_name", tls.server_name);
    tls.insecure_skip_verify = value["insecure_skip_verify"].boolean();
    places.remember(where + ".insecure_skip_verify", value["insecure_skip_verify"]);
    read_versions(value, dialect, tls);
    places.remember(where + ".min_version", value["min_version"]);
    places.remember(where + ".max_version", value["max_version"]);
}

// --- headers -------------------------------------------------------------------------------------

void add_header(HttpHeader header, const YamlValue& value, const std::string& where,
                std::vector<HttpHeader>& headers, FieldPlaces& places) {
    places.remember(where + "[" + std::to_string(headers.size()) + "]", value);
    headers.push_back(std::move(header));
}

/// vmagent's syntax: a list of "Name: value".
void read_header_lines(const YamlValue& value, const std::string& where,
                       std::vector<HttpHeader>& headers, FieldPlaces& places) {
    for (const YamlValue& line : value.items()) {
        const std::string text = line.string();
        const std::size_t colon = text.find(':');
        if (colon == std::string::npos) line.fail("must be a text of the form \"Name: value\"");
        const std::string_view view = text;
        add_header({std::string(trim(view.substr(0, colon))),
                    std::string(trim(view.substr(colon + 1))),
                    {}},
                   line, where, headers, places);
    }
}

/// Prometheus' syntax: by name, lists of plain values, of secret values and of files.
void read_header_map(const YamlValue& value, const std::string& where,
                     std::vector<HttpHeader>& headers, FieldPlaces& places) {
    for (const auto& [name, sources] : value.entries()) {
        sources.allow_only({"values", "secrets", "files"});
        for (const bool secret : {false, true}) {
            for (const YamlValue& item : sources[secret ? "secrets" : "values"].items()) {
                add_header({name, item.string(), {}, secret}, item, where, headers, places);
            }
        }
        for (const YamlValue& item : sources["files"].items()) {
            HttpHeader header{name, {}, {}};
            const std::string field = where + "[" + std::to_string(headers.size()) + "]";
            places.path(item, field, header.file);
            headers.push_back(std::move(header));
        }
    }
}

// --- proxy ---------------------------------------------------------------------------------------

void read_proxy(const YamlValue& entry, const std::string& where, ProxyConfig& proxy,
                FieldPlaces& places) {
    if (entry["proxy_from_environment"].boolean()) {
        allow_one_of(entry, {"proxy_from_environment", "proxy_url"});
        allow_one_of(entry, {"proxy_from_environment", "no_proxy"});
    }
    places.text(entry["proxy_url"], where + ".url", proxy.url);
    places.text(entry["no_proxy"], where + ".no_proxy", proxy.no_proxy);
    proxy.from_environment = entry["proxy_from_environment"].boolean();
    places.remember(where + ".from_environment", entry["proxy_from_environment"]);
    places.remember(where + ".connect_headers", entry["proxy_connect_header"]);
    for (const auto& [name, values] : entry["proxy_connect_header"].entries()) {
        for (const YamlValue& value : values.items()) {
            add_header({name, value.string(), {}}, value, where + ".connect_headers",
                       proxy.connect_headers, places);
        }
    }
}

// --- token service -------------------------------------------------------------------------------

void refuse_other_grants(const YamlValue& value) {
    for (const char* key :
         {"client_certificate_key", "client_certificate_key_file", "client_certificate_key_id",
          "signature_algorithm", "iss", "audience", "claims"}) {
        if (value.has(key)) {
            value[key].fail("tokens for a signed JWT are not supported; allowed is the grant type "
                            "client_credentials");
        }
    }
    const std::string grant = value["grant_type"].string();
    if (!grant.empty() && grant != "client_credentials") {
        value["grant_type"].fail("is not supported; allowed is client_credentials");
    }
}

void read_oauth2(const YamlValue& value, LabelDialect dialect, const std::string& where,
                 AuthConfig& auth, FieldPlaces& places) {
    if (value.is_null()) return;
    refuse_other_grants(value);
    value.allow_only({"client_id", "client_secret", "client_secret_file", "token_url", "scopes",
                      "endpoint_params", "grant_type", "tls_config", "proxy_url", "no_proxy",
                      "proxy_from_environment", "proxy_connect_header", "http_headers", "headers"});
    OAuth2Config& oauth2 = auth.oauth2.emplace();
    places.remember(where, value);
    places.text(value["client_id"], where + ".client_id", oauth2.client_id);
    places.text(value["client_secret"], where + ".client_secret", oauth2.client_secret);
    places.path(value["client_secret_file"], where + ".client_secret_file",
                oauth2.client_secret_file);
    places.text(value["token_url"], where + ".token_url", oauth2.token_url);
    for (const YamlValue& scope : value["scopes"].items()) oauth2.scopes.push_back(scope.string());
    for (const auto& [name, text] : value["endpoint_params"].entries()) {
        oauth2.endpoint_params.emplace(name, text.string());
    }
    read_tls(value["tls_config"], dialect, where + ".tls", oauth2.tls, places);
    read_proxy(value, where + ".proxy", oauth2.proxy, places);
    read_header_map(value["http_headers"], where + ".headers", oauth2.headers, places);
    read_header_lines(value["headers"], where + ".headers", oauth2.headers, places);
}

}  // namespace

void read_http_client(const YamlValue& entry, LabelDialect dialect, const std::string& where,
                      ApiServerConfig& server, FieldPlaces& places) {
    allow_one_of(entry,
                 {"bearer_token", "bearer_token_file", "authorization", "basic_auth", "oauth2"});
    const std::string auth = where + ".auth";
    places.text(entry["bearer_token"], auth + ".bearer_token", server.auth.bearer_token);
    places.path(entry["bearer_token_file"], auth + ".bearer_token_file",
                server.auth.bearer_token_file);
    read_authorization(entry["authorization"], auth, server.auth, places);
    read_basic_auth(entry["basic_auth"], dialect, auth, server.auth, places);
    read_oauth2(entry["oauth2"], dialect, auth + ".oauth2", server.auth, places);
    read_tls(entry["tls_config"], dialect, where + ".tls", server.tls, places);
    read_proxy(entry, where + ".proxy", server.proxy, places);
    read_header_map(entry["http_headers"], where + ".headers", server.headers, places);
    read_header_lines(entry["headers"], where + ".headers", server.headers, places);
}

void refuse_proxy_credentials(const YamlValue& entry) {
    for (const char* key :
         {"proxy_authorization", "proxy_basic_auth", "proxy_bearer_token",
          "proxy_bearer_token_file", "proxy_headers", "proxy_oauth2", "proxy_tls_config"}) {
        if (!entry.has(key)) continue;
        entry[key].fail("is not supported here; user and password for the proxy can stand in "
                        "proxy_url, headers in proxy_connect_header");
    }
}

}  // namespace k8s_sd::inline v0::detail
