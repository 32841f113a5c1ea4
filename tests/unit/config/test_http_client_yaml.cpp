#include "k8s_sd/config_yaml.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

// HTTP client settings in YAML: both programs' spellings in both dialects.

namespace http_client_yaml_tests {

using namespace k8s_sd;
using k8s_sd::test::config_error;
using k8s_sd::test::contains;
using k8s_sd::test::TemporaryDirectory;

namespace {

constexpr auto P = LabelDialect::prometheus;
constexpr auto V = LabelDialect::victoriametrics;

std::string with_server(const std::string& lines) {
    return "role: pod\napi_server: https://h\n" + lines;
}

ApiServerConfig server(const std::string& lines, LabelDialect dialect = P) {
    return parse_sd_config(with_server(lines), dialect, "/etc/sd.yaml").api_server;
}

AuthConfig auth(const std::string& lines) { return server(lines).auth; }

/// The same in both dialects.
std::string problem(const std::string& lines) {
    const auto of = [&](LabelDialect dialect) {
        return config_error([&] { parse_sd_config(with_server(lines), dialect, "sd.yaml"); });
    };
    CHECK(of(P) == of(V));
    return of(P);
}

}  // namespace

TEST_CASE("HTTP client: every form of credentials reaches its field") {
    CHECK(auth("bearer_token: t") == AuthConfig{.bearer_token = "t"});
    CHECK(auth("bearer_token_file: /t") == AuthConfig{.bearer_token_file = "/t"});
    CHECK(auth("authorization: {credentials_file: t}") ==
          AuthConfig{.bearer_token_file = "/etc/t"});
    CHECK(auth("authorization: {type: Token, credentials: c}") ==
          AuthConfig{.bearer_token = "c", .scheme = "Token"});
    CHECK(auth("basic_auth: {username: u, password: 007}") ==
          AuthConfig{.username = "u", .password = "007"});
    CHECK(auth("basic_auth: {username_file: u, password_file: /p}") ==
          AuthConfig{.username_file = "/etc/u", .password_file = "/p"});
    CHECK(auth("bearer_token: ''\nauthorization: ~") == AuthConfig{});
    CHECK(auth("bearer_token: ''\nauthorization: {credentials: c}") ==
          AuthConfig{.bearer_token = "c"});
    CHECK(auth("authorization: {credentials: '', credentials_file: /t}") ==
          AuthConfig{.bearer_token_file = "/t"});
    CHECK(auth("authorization: {}") == AuthConfig{});
    CHECK(auth("basic_auth: {}") == AuthConfig{});
    CHECK(auth("basic_auth: {username: ''}") == AuthConfig{});
    CHECK(auth("basic_auth: {password: p}") == AuthConfig{.password = "p"});
    CHECK(auth("basic_auth: {username: '', password_file: /p}") ==
          AuthConfig{.password_file = "/p"});
}

TEST_CASE("HTTP client: a token service, with its own TLS, proxy and headers") {
    const OAuth2Config expected{.client_id = "me",
                                .client_secret_file = "/etc/secret",
                                .token_url = "https://login.example.com/token?tenant=1",
                                .scopes = {"a", "b"},
                                .endpoint_params = {{"audience", "api"}, {"resource", "5"}},
                                .tls = {.ca_file = "/etc/ca", .min_version = TlsVersion::tls_1_3},
                                .proxy = {.url = "http://proxy:3128", .no_proxy = "example.org"},
                                .headers = {{"X-Tenant", "1", ""}}};
    const std::string lines =
        "oauth2:\n  client_id: me\n  client_secret_file: secret\n"
        "  token_url: https://login.example.com/token?tenant=1\n  scopes: [a, b]\n"
        "  endpoint_params: {audience: api, resource: 5}\n  grant_type: client_credentials\n"
        "  tls_config: {ca_file: ca, min_version: TLS13}\n  proxy_url: http://proxy:3128\n"
        "  no_proxy: example.org\n  headers: ['X-Tenant: 1']\n";
    CHECK(auth(lines).oauth2 == expected);
    CHECK(server(lines, V).auth.oauth2 == expected);
}

TEST_CASE("HTTP client: headers, as Prometheus and as vmagent write them") {
    const std::vector<HttpHeader> expected{
        {"X-A", "1", "", false}, {"X-A", "2", ""}, {"X-A", "", "/etc/f"}, {"x_b", "", "", false}};
    CHECK(server("http_headers:\n  X-A: {values: ['1'], secrets: ['2'], files: [f]}\n"
                 "  x_b: {values: ['']}")
              .headers == expected);
    CHECK(server("headers: ['X-A:1', ' X-C : a: b ']").headers ==
          std::vector<HttpHeader>{{"X-A", "1", ""}, {"X-C", "a: b", ""}});
}

TEST_CASE("HTTP client: a proxy, or those of the environment") {
    CHECK(server("proxy_url: http://p:3128\nno_proxy: a.b,10.0.0.0/8\n"
                 "proxy_connect_header: {X-Via: [a, b]}")
              .proxy == ProxyConfig{.url = "http://p:3128",
                                    .no_proxy = "a.b,10.0.0.0/8",
                                    .connect_headers = {{"X-Via", "a", ""}, {"X-Via", "b", ""}}});
    CHECK(server("proxy_from_environment: true").proxy == ProxyConfig{.from_environment = true});
}

TEST_CASE("HTTP client: versions of TLS, in upper case for Prometheus, in any for vmagent") {
    const auto tls = [](const std::string& lines, LabelDialect dialect = P) {
        return server("tls_config: {" + lines + "}", dialect).tls;
    };
    CHECK(tls("min_version: TLS13").min_version == TlsVersion::tls_1_3);
    CHECK(tls("min_version: TLS10, max_version: TLS12") ==
          TlsConfig{.min_version = TlsVersion::tls_1_0, .max_version = TlsVersion::tls_1_2});
    CHECK(tls("min_version: TLS11").min_version == TlsVersion::tls_1_1);
    CHECK(tls("min_version: ") == TlsConfig{});
    CHECK(tls("min_version: tls13", V).min_version == TlsVersion::tls_1_3);
    CHECK(tls("min_version: Tls10", V).min_version == TlsVersion::tls_1_0);
    CHECK(tls("min_version: ''", V) == TlsConfig{});
    for (const char* odd : {"tls12", "Tls12", "''"}) {
        const std::string text = with_server("tls_config: {min_version: " + std::string(odd) + "}");
        CHECK(config_error([&] { parse_sd_config(text, P, "sd.yaml"); }) ==
              "sd.yaml:3: tls_config.min_version: is not a version of TLS; allowed are TLS10, "
              "TLS11, TLS12 and TLS13");
    }
}

TEST_CASE("HTTP client: a section without user and password is an error for vmagent") {
    for (const char* section : {"{}", "{username: ''}", "{username: '', password_file: ''}"}) {
        const std::string text = with_server("basic_auth: " + std::string(section));
        CHECK(config_error([&] { parse_sd_config(text, V, "sd.yaml"); }) ==
              "sd.yaml:3: basic_auth: needs username or username_file; or remove the section");
    }
    CHECK(server("basic_auth: {password: p}", V).auth == AuthConfig{.password = "p"});
    CHECK(server("basic_auth: ", V).auth == AuthConfig{});
}

TEST_CASE("HTTP client: contradictions are reported with their position") {
    const std::pair<const char*, const char*> cases[] = {
        {"bearer_token: a\nbearer_token_file: b",
         "4: bearer_token_file: must not be set together with bearer_token"},
        {"bearer_token: a\nauthorization: {credentials: b}",
         "4: authorization: must not be set together with bearer_token"},
        {"basic_auth: {username: u}\nauthorization: {credentials: b}",
         "3: basic_auth: must not be set together with authorization"},
        {"oauth2: {client_id: i}\nbearer_token_file: b",
         "3: oauth2: must not be set together with bearer_token_file"},
        {"authorization: {credentials: a,\n credentials_file: b}",
         "4: authorization.credentials_file: must not be set together with credentials"},
        {"authorization: {}\nbearer_token: t",
         "3: authorization: must not be set together with bearer_token"},
        {"authorization: {type: BASIC, credentials: c}",
         "3: authorization.type: use basic_auth for basic authentication"},
        {"authorization: {type: 'a b', credentials: c}",
         "3: authorization.type: is no scheme; the usual one is Bearer"},
        {"basic_auth: {}\nbearer_token: t",
         "3: basic_auth: must not be set together with bearer_token"},
        {"basic_auth: {username: u,\n username_file: f}",
         "4: basic_auth.username_file: must not be set together with username"},
        {"basic_auth:\n  username: u\n  password: p\n  password_file: f",
         "6: basic_auth.password_file: must not be set together with password"},
        {"tls_config: {min_version: '1.2'}",
         "3: tls_config.min_version: is not a version of TLS; allowed are TLS10, TLS11, TLS12 and "
         "TLS13"},
        {"tls_config: {max_version: TLS11}",
         "3: tls_config.max_version: TLS 1.0 and 1.1 are not supported here; allowed are TLS12 and "
         "TLS13"},
        {"tls_config: {min_version: TLS10,\n max_version: TLS11}",
         "4: tls_config.max_version: TLS 1.0 and 1.1 are not supported here; allowed are TLS12 and "
         "TLS13"},
        {"tls_config: {min_version: TLS13,\n max_version: TLS12}",
         "3: tls_config.min_version: must not exceed max_version; lower min_version or raise "
         "max_version"},
        {"tls_config: {ca_file: 'https://h/ca'}",
         "3: tls_config.ca_file: reading it from a URL is not supported; name a file"},
        {"oauth2: {token_url: 'https://h/t'}", "3: oauth2: needs client_id"},
        {"oauth2: {client_id: i}", "3: oauth2: needs token_url"},
        {"oauth2: {client_id: i,\n token_url: ftp://h}",
         "4: oauth2.token_url: must begin with http:// or https://"},
        {"oauth2: {client_id: i, token_url: 'http://h', tls_config: {\n cert_file: f}}",
         "4: oauth2.tls_config.cert_file: needs the private key: set key or key_file"},
        {"oauth2: {client_id: i, token_url: 'http://h', client_secret: s,\n client_secret_file: f}",
         "4: oauth2.client_secret_file: must not be set together with client_secret"},
        {"oauth2: {grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer'}",
         "3: oauth2.grant_type: is not supported; allowed is client_credentials"},
        {"oauth2: {iss: me}",
         "3: oauth2.iss: tokens for a signed JWT are not supported; allowed is the grant type "
         "client_credentials"},
        {"proxy_from_environment: true\nproxy_url: http://p",
         "4: proxy_url: must not be set together with proxy_from_environment"},
        {"proxy_from_environment: true\nno_proxy: p",
         "4: no_proxy: must not be set together with proxy_from_environment"},
        {"proxy_url: sesame", "3: proxy_url: must begin with http://, https:// or socks5://"},
        {"no_proxy: p", "3: no_proxy: needs the URL of a proxy"},
        {"proxy_connect_header: {X-A: [a]}", "3: proxy_connect_header: needs the URL of a proxy"},
        {"headers: [X-A]", "3: headers[0]: must be a text of the form \"Name: value\""},
        {"headers:\n- 'X-A: 1'\n- 'Authorization: x'",
         "5: headers[1]: Authorization is set by the credentials; configure those"},
        {"http_headers: {Host: {values: [a]}}",
         "3: http_headers.Host.values[0]: Host is reserved; it cannot be configured"},
        {"headers: ['Impersonate-User: x']",
         "3: headers[0]: Impersonate-User is set by impersonate"},
        {"headers: ['X A: x']",
         "3: headers[0]: is not the name of a header: letters, digits, '-' and '_' are allowed"},
        {"headers: [': x']", "3: headers[0]: needs a name"},
        {"http_headers: {X-A: {values: [\"a\\r\\nX-B: sesame\"]}}",
         "3: http_headers.X-A.values[0]: must not contain a line break or another control "
         "character"}};
    for (const auto& [lines, expected] : cases) {
        CHECK(problem(lines) == std::string("sd.yaml:") + expected);
    }
    CHECK(contains(problem("oauth2: {clientid: i}"), "(did you mean client_id?)"));
    CHECK(contains(problem("http_headers: {X-A: {value: i}}"), "(did you mean values?)"));
}

TEST_CASE("HTTP client: Prometheus wants api_server for its options, vmagent does not") {
    const auto alone = [](const std::string& line, LabelDialect dialect) {
        return config_error([&] { parse_sd_config("role: pod\n" + line, dialect, "sd.yaml"); });
    };
    for (const std::string line : {"follow_redirects: false", "enable_http2: false",
                                   "proxy_url: http://p", "proxy_from_environment: true",
                                   "http_headers: {X-A: {values: [b]}}", "headers: ['X-A: b']"}) {
        INFO(line);
        const std::string key = line.substr(0, line.find(':'));
        CHECK(alone(line, P).starts_with("sd.yaml:2: " + key));
        CHECK(alone(line, P).ends_with(": needs the URL of api_server"));
        CHECK(alone(line, V) == "");
        CHECK(problem(line) == "");
    }
    for (const std::string key : {"follow_redirects", "enable_http2"}) {
        CHECK(alone(key + ": true", P) == "");
        CHECK(problem(key + ": 5") == "sd.yaml:3: " + key + ": must be true or false");
    }
    CHECK(alone("api_server: ''", P) ==
          "sd.yaml:2: api_server: must not be empty; leave it out for in-cluster access");
    CHECK(alone("api_server: ''", V) == "");
}

TEST_CASE("HTTP client: what is off needs no server, and a kubeconfig is no reason for a URL") {
    const auto read = [](const std::string& lines) {
        return parse_sd_config("role: pod\n" + lines, P, "sd.yaml");
    };
    CHECK(read("proxy_from_environment: false").api_server == ApiServerConfig{});
    CHECK(config_error([&] { read("kubeconfig_file: kc\nproxy_url: http://p"); }) ==
          "sd.yaml:3: proxy_url: must not be set together with kubeconfig_file in the dialect of "
          "Prometheus");
}

}  // namespace http_client_yaml_tests
