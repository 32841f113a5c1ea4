#include "k8s_sd/config.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/kind.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <utility>

using namespace k8s_sd;
using namespace std::chrono_literals;
using k8s_sd::test::config_error;
using k8s_sd::test::contains;
using k8s_sd::test::ScopedVariable;
using k8s_sd::test::TemporaryDirectory;

namespace {

std::string problem(const DiscoveryConfig& config) {
    return config_error([&] { validate(config); });
}

DiscoveryConfig with_url(std::string url = "https://api:6443") {
    DiscoveryConfig config;
    config.api_server.url = std::move(url);
    return config;
}

bool is_of_gateway_api(Role role) {
    return resource_of(main_kind(role)).group == "gateway.networking.k8s.io";
}

std::string resolved_url(const std::string& url, TlsConfig tls = {}) {
    DiscoveryConfig config = with_url(url);
    config.api_server.tls = std::move(tls);
    return resolve(config).scope.api_server.url;
}

/// The files and variables of a pod.
struct Pod {
    explicit Pod(const std::string& host = "10.0.0.1", const std::string& own = "shop\n")
        : host_variable("KUBERNETES_SERVICE_HOST", host),
          port_variable("KUBERNETES_SERVICE_PORT", "443") {
        directory.write("token", "abc\n");
        directory.write("ca.crt", "PEM");
        directory.write("namespace", own);
        files.directory = directory.path();
    }

    TemporaryDirectory directory;
    ScopedVariable host_variable;
    ScopedVariable port_variable;
    InClusterFiles files;
};

ExecConfig plugin() {
    return {.api_version = "client.authentication.k8s.io/v1", .command = "plugin"};
}

OAuth2Config token_service() { return {.client_id = "me", .token_url = "https://login"}; }

std::shared_ptr<TokenSource> token_source() {
    struct None final : TokenSource {
        void async_get_token(bool, Handler) override {}
    };
    return std::make_shared<None>();
}

}  // namespace

TEST_CASE("validate: the default configuration is valid in both dialects") {
    DiscoveryConfig config;
    CHECK(problem(config) == "");
    config.dialect = LabelDialect::victoriametrics;
    CHECK(problem(config) == "");
}

TEST_CASE("validate: only Prometheus' dialect has versions") {
    DiscoveryConfig config;
    config.prometheus_version = PrometheusVersion::v3_15;
    CHECK(problem(config) == "");
    config.dialect = LabelDialect::victoriametrics;
    CHECK(problem(config) ==
          "prometheus_version: is not for the dialect victoriametrics, which has no versions here; "
          "leave it out");
    config = {};
    config.prometheus_version = static_cast<PrometheusVersion>(11);
    CHECK(problem(config).starts_with("prometheus_version: is no version; allowed are 3.5, 3.6,"));
}

TEST_CASE("validate: options of later versions are accepted with each version") {
    for (std::size_t i = 0; i < prometheus_version_names.size(); ++i) {
        DiscoveryConfig config;
        config.prometheus_version = static_cast<PrometheusVersion>(i);
        config.attach_metadata = {true, true, true, true, true};
        config.selectors = {{Role::node, "a=b", ""}};
        CHECK(problem(config) == "");
    }
}

TEST_CASE("parse_prometheus_version: an error lists the versions") {
    CHECK(parse_prometheus_version("3.14") == PrometheusVersion::v3_14);
    const auto error = [](const char* name) {
        return config_error([&] { parse_prometheus_version(name); });
    };
    CHECK(error("3.16") ==
          "prometheus_version: there is no version \"3.16\"; allowed are 3.5, 3.6, 3.7, 3.8, 3.9, "
          "3.10, 3.11, 3.12, 3.13, 3.14, 3.15");
    CHECK(error("").starts_with("prometheus_version: is missing; allowed are 3.5, "));
}

TEST_CASE("resolve: the version belongs to the view") {
    DiscoveryConfig config = with_url();
    const ResolvedConfig usual = resolve(config);
    config.prometheus_version = PrometheusVersion::v3_12;
    const ResolvedConfig later = resolve(config);
    CHECK(later.view.prometheus_version == PrometheusVersion::v3_12);
    CHECK(later.scope == usual.scope);
    CHECK(later.view != usual.view);
}

TEST_CASE("validate: api_server and kubeconfig_file exclude each other in both dialects") {
    DiscoveryConfig config = with_url();
    config.kubeconfig_file = "kc";
    for (const auto dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        config.dialect = dialect;
        CHECK(problem(config) ==
              "kubeconfig_file: must not be set together with the URL of api_server");
    }
}

TEST_CASE("validate: credentials and TLS options need the URL of api_server") {
    const auto with = [](auto set) {
        DiscoveryConfig config;
        set(config.api_server);
        return config;
    };
    const std::pair<const char*, DiscoveryConfig> cases[] = {
        {"auth.bearer_token", with([](auto& s) { s.auth.bearer_token = "t"; })},
        {"auth.bearer_token_file", with([](auto& s) { s.auth.bearer_token_file = "f"; })},
        {"auth.username", with([](auto& s) { s.auth.username = "u"; })},
        {"auth.username_file", with([](auto& s) { s.auth.username_file = "f"; })},
        {"auth.exec", with([](auto& s) { s.auth.exec = plugin(); })},
        {"auth.oauth2", with([](auto& s) { s.auth.oauth2 = token_service(); })},
        {"auth.token_source", with([](auto& s) { s.auth.token_source = token_source(); })},
        {"auth.password", with([](auto& s) { s.auth.password = "p"; })},
        {"auth.password_file", with([](auto& s) { s.auth.password_file = "f"; })},
        {"tls.ca", with([](auto& s) { s.tls.ca = "p"; })},
        {"tls.ca_file", with([](auto& s) { s.tls.ca_file = "f"; })},
        {"tls.cert", with([](auto& s) { s.tls.cert = s.tls.key = "p"; })},
        {"tls.cert_file", with([](auto& s) { s.tls.cert_file = s.tls.key_file = "f"; })},
        {"tls.server_name", with([](auto& s) { s.tls.server_name = "n"; })},
        {"tls.insecure_skip_verify", with([](auto& s) { s.tls.insecure_skip_verify = true; })},
        {"tls.min_version", with([](auto& s) { s.tls.min_version = TlsVersion::tls_1_3; })}};
    for (auto [field, config] : cases) {
        INFO(field);
        const std::string where = std::string("api_server.") + field;
        CHECK(problem(config).starts_with(where + ": needs the URL of api_server"));
        config.kubeconfig_file = "kc";
        CHECK(problem(config).starts_with(where + ": must not be set together with kubeconfig"));
        config.kubeconfig_file.clear();
        config.api_server.url = "https://api";
        CHECK(problem(config) == "");
    }
}

TEST_CASE("validate: own_namespace needs in-cluster access, except in vmagent's dialect") {
    DiscoveryConfig url = with_url();
    url.own_namespace = true;
    CHECK(contains(problem(url), "own_namespace: needs in-cluster access, it must not be set "
                                 "together with the URL of api_server"));
    DiscoveryConfig kubeconfig;
    kubeconfig.kubeconfig_file = "kc";
    kubeconfig.own_namespace = true;
    CHECK(contains(problem(kubeconfig), "together with kubeconfig_file"));
    url.dialect = kubeconfig.dialect = LabelDialect::victoriametrics;
    CHECK(problem(url) == "");
    CHECK(problem(kubeconfig) == "");
}

TEST_CASE("validate: a kubeconfig_context needs a kubeconfig_file that is a file") {
    DiscoveryConfig config;
    config.kubeconfig_context = "c";
    CHECK(problem(config) == "kubeconfig_context: needs kubeconfig_file");
    config.kubeconfig_file = "https://host/kubeconfig";
    CHECK(problem(config) == "kubeconfig_file: a kubeconfig from a URL is not supported yet");
}

TEST_CASE("validate: Prometheus' dialect permits each role its selectors and one of a role") {
    const std::pair<Role, std::vector<Role>> permitted[] = {
        {Role::node, {Role::node}},
        {Role::pod, {Role::pod, Role::node}},
        {Role::service, {Role::service}},
        {Role::endpoints, {Role::pod, Role::service, Role::endpoints}},
        {Role::endpointslice, {Role::pod, Role::service, Role::endpointslice}},
        {Role::ingress, {Role::ingress}},
        {Role::gateway, {Role::gateway}},
        {Role::httproute, {Role::httproute, Role::gateway}},
        {Role::grpcroute, {Role::grpcroute, Role::gateway}},
        {Role::tlsroute, {Role::tlsroute, Role::gateway}}};
    for (const auto& [role, allowed] : permitted) {
        for (std::size_t i = 0; i < role_names.size(); ++i) {
            const Role selector = static_cast<Role>(i);
            INFO(to_string(role) << " with a selector for " << to_string(selector));
            DiscoveryConfig config;
            config.role = role;
            config.selectors = {{selector, "a=b", ""}};
            const bool is_allowed =
                std::find(allowed.begin(), allowed.end(), selector) != allowed.end();
            CHECK(problem(config).empty() == is_allowed);
            config.dialect = LabelDialect::victoriametrics;
            CHECK(problem(config).starts_with("role: vmagent has no") == is_of_gateway_api(role));
            if (!is_of_gateway_api(role)) CHECK(problem(config) == "");
        }
    }
    DiscoveryConfig config;
    config.selectors = {{Role::pod, "a=b", ""}, {Role::service, "", ""}};
    CHECK(problem(config) ==
          "selectors[1].role: a configuration of role pod takes selectors for pod and node, not "
          "service");
    config.selectors = {{Role::pod, "a=b", ""}, {Role::pod, "", "x=y"}};
    CHECK(
        problem(config).starts_with("selectors[1].role: there is a selector for role pod already"));
    config.dialect = LabelDialect::victoriametrics;
    CHECK(problem(config) == "");
}

TEST_CASE("validate: the syntax of selectors counts in both dialects, also of inert ones") {
    for (const auto dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        DiscoveryConfig config;
        config.dialect = dialect;
        config.selectors = {{Role::pod, "foo in (bar,baz)", "metadata.status-Running"}};
        CHECK(problem(config).starts_with("selectors[0].field: "));
        config.selectors[0].field = "metadata.name=x";
        CHECK(problem(config) == "");
        config.selectors[0].label = "a in (";
        CHECK(problem(config).starts_with("selectors[0].label: "));
        config.selectors[0] = {Role::pod, "", ""};
        CHECK(problem(config) == "");
    }
    DiscoveryConfig inert;
    inert.dialect = LabelDialect::victoriametrics;
    inert.selectors = {{Role::ingress, "=", ""}};
    CHECK(problem(inert).starts_with("selectors[0].label: "));
}

TEST_CASE("validate: one kind of credentials, complete and fit for a header") {
    DiscoveryConfig config = with_url();
    AuthConfig& auth = config.api_server.auth;
    auth = {.bearer_token = "t", .bearer_token_file = "f"};
    CHECK(problem(config) ==
          "api_server.auth.bearer_token_file: must not be set together with bearer_token");
    auth = {.bearer_token_file = "f", .username = "u"};
    CHECK(problem(config) ==
          "api_server.auth.username: must not be set together with bearer_token_file");
    auth = {.username = "u", .password = "p", .password_file = "f"};
    CHECK(problem(config) ==
          "api_server.auth.password_file: must not be set together with password");
    auth = {.password_file = "f"};
    CHECK(problem(config) == "");
    auth = {.username = "a:b", .password = "p"};
    CHECK(problem(config) == "api_server.auth.username: must not contain a colon");
    auth = {.bearer_token = "sesame\r\nX-Evil: 1"};
    CHECK(problem(config).starts_with("api_server.auth.bearer_token: must not contain a line"));
    CHECK_FALSE(contains(problem(config), "sesame"));
    auth = {.username = "u", .password = "p"};
    CHECK(problem(config) == "");
}

TEST_CASE("validate: a program that gives credentials can be run") {
    DiscoveryConfig config = with_url();
    ExecConfig& exec = config.api_server.auth.exec.emplace(plugin());
    CHECK(problem(config) == "");
    exec.api_version = "client.authentication.k8s.io/v1alpha1";
    CHECK(problem(config).starts_with("api_server.auth.exec.api_version: allowed are client."));
    exec = plugin();
    exec.command.clear();
    CHECK(problem(config) == "api_server.auth.exec: needs command");
    exec = plugin();
    exec.interactive_mode = ExecConfig::InteractiveMode::always;
    CHECK(problem(config).starts_with("api_server.auth.exec.interactive_mode: always needs a"));
    exec = plugin();
    exec.timeout = Duration::zero();
    CHECK(problem(config) ==
          "api_server.auth.exec.timeout: must be greater than zero, and at most an "
          "hour");
    exec.timeout = Duration::max();
    CHECK(contains(problem(config), "at most an hour"));
    exec = plugin();
    exec.env = {{"A=B", "c"}};
    CHECK(problem(config) == "api_server.auth.exec.env: a variable needs a name without '='");
    exec.env = {{"A", std::string("a\0b", 3)}};
    CHECK(problem(config) == "api_server.auth.exec: must not contain a NUL character");
    config.api_server.auth.exec = plugin();
    config.api_server.auth.token_source = token_source();
    CHECK(problem(config) == "api_server.auth.token_source: must not be set together with exec");
}

TEST_CASE("validate: headers for a proxy are values, and the proxy one of HTTP") {
    DiscoveryConfig config = with_url();
    ProxyConfig& proxy = config.api_server.proxy;
    proxy = {.url = "http://p", .connect_headers = {{"X-A", "", "file"}}};
    CHECK(problem(config).starts_with("api_server.proxy.connect_headers: files are not supported"));
    proxy = {.url = "socks5://p", .connect_headers = {{"X-A", "1", ""}}};
    CHECK(problem(config).starts_with("api_server.proxy.connect_headers: SOCKS5 has no headers"));
}

TEST_CASE("validate: whom to impersonate has a name") {
    DiscoveryConfig config = with_url();
    config.api_server.impersonate = {.groups = {"admins"}};
    CHECK(problem(config).starts_with("api_server.impersonate.user: is missing; uid, groups and"));
    config.api_server.impersonate = {.user = "jane", .uid = "1\n2"};
    CHECK(problem(config).starts_with("api_server.impersonate.uid: must not contain a line break"));
    config.api_server.impersonate = {.user = "jane", .extra = {{"scopes", {"a", "b\r"}}}};
    CHECK(problem(config).starts_with("api_server.impersonate.extra: must not contain a line"));
    config.api_server.impersonate = {.user = "jane", .extra = {{"", {"a"}}}};
    CHECK(problem(config).starts_with("api_server.impersonate.extra: needs keys that are not"));
}

TEST_CASE("validate: headers, impersonation and a proxy are added to any way to the server") {
    DiscoveryConfig config;
    config.kubeconfig_file = "kc";
    config.api_server = {.impersonate = {.user = "jane"},
                         .headers = {{"X-Tenant", "1", ""}},
                         .proxy = {.url = "http://proxy"}};
    CHECK(problem(config) == "");
    config.kubeconfig_file.clear();
    CHECK(problem(config) == "");
    config.api_server.headers.push_back({"X-Tenant", "1", "file"});
    CHECK(problem(config) == "api_server.headers[1].file: must not be set together with value");
}

TEST_CASE("validate: certificates come from one source and with their keys") {
    DiscoveryConfig config = with_url();
    TlsConfig& tls = config.api_server.tls;
    tls = {.ca = "p", .ca_file = "f"};
    CHECK(problem(config) == "api_server.tls.ca_file: must not be set together with ca");
    tls = {.cert = "p", .cert_file = "f", .key = "k"};
    CHECK(problem(config) == "api_server.tls.cert_file: must not be set together with cert");
    tls = {.cert = "p", .key = "k", .key_file = "f"};
    CHECK(problem(config) == "api_server.tls.key_file: must not be set together with key");
    tls = {.cert_file = "f"};
    CHECK(problem(config).starts_with("api_server.tls.cert_file: needs the private key"));
    tls = {.key = "f"};
    CHECK(problem(config).starts_with("api_server.tls.key: needs the certificate"));
    tls = {.max_version = TlsVersion::tls_1_1};
    CHECK(problem(config) ==
          "api_server.tls.max_version: TLS 1.0 and 1.1 are not supported here; allowed are TLS12 "
          "and TLS13");
    tls = {.min_version = TlsVersion::tls_1_3, .max_version = TlsVersion::tls_1_2};
    CHECK(problem(config) ==
          "api_server.tls.min_version: must not exceed max_version; lower min_version or raise "
          "max_version");
    tls = {.cert = "p", .key_file = "f"};
    CHECK(problem(config) == "");
}

TEST_CASE("validate: only roles that join no other kinds have shares") {
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        for (std::size_t i = 0; i < role_names.size(); ++i) {
            const Role role = static_cast<Role>(i);
            DiscoveryConfig config{.role = role, .dialect = dialect};
            if (dialect == LabelDialect::victoriametrics && is_of_gateway_api(role)) continue;
            CHECK_NOTHROW(validate(config));
            config.share = ObjectShare::part(1, 3);
            if (role == Role::pod || role == Role::node || role == Role::service) {
                CHECK_NOTHROW(validate(config));
            } else {
                CHECK_THROWS_AS(validate(config), ConfigError);
            }
        }
    }
}

TEST_CASE("resolve: a share is one of the role's objects, and everything is of no role") {
    DiscoveryConfig config{.role = Role::node};
    config.api_server.url = "http://a";
    CHECK(resolve(config).scope.share_role == Role::pod);
    config.share = ObjectShare::part(1, 3);
    CHECK(resolve(config).scope.share_role == Role::node);
    CHECK(resolve(config).scope.share == config.share);
}

TEST_CASE("validate: watch options must not contradict each other") {
    const auto with = [](auto set) {
        DiscoveryConfig config;
        set(config.watch);
        return problem(config);
    };
    CHECK(with([](WatchOptions& w) { w.backoff_max = 1ms; }) ==
          "watch.backoff_min: must not exceed backoff_max");
    CHECK(with([](WatchOptions& w) { w.backoff_min = 0ms; }) ==
          "watch.backoff_min: must be greater than zero");
    CHECK(with([](WatchOptions& w) { w.watch_timeout_max = 1s; }) ==
          "watch.watch_timeout_min: must not exceed watch_timeout_max");
    CHECK(with([](WatchOptions& w) { w.connect_timeout = -1s; }) ==
          "watch.connect_timeout: must not be negative");
    CHECK(with([](WatchOptions& w) { w.max_object_bytes = 0; }) ==
          "watch.max_object_bytes: must be greater than zero");
    CHECK(with([](WatchOptions& w) { w.connect_timeout = w.response_timeout = 0s; }) == "");
    DiscoveryConfig config;
    config.min_update_interval = -1s;
    CHECK(problem(config) == "min_update_interval: must not be negative");
}

TEST_CASE("validate: a namespace is a DNS label") {
    DiscoveryConfig config;
    for (const std::string bad : {"Shop", "a/b", "../x", "a b", "-a", "a-", "a.b", "a?x=1"}) {
        INFO(bad);
        config.namespaces = {"ok", bad};
        CHECK(problem(config).starts_with("namespaces[1]: \"" + bad +
                                          "\" is not a name of a namespace: it has 1 to 63"));
    }
    config.namespaces = {"", "kube-system", std::string(63, '1')};
    CHECK(problem(config) == "");
    config.namespaces = {std::string(64, 'a')};
    CHECK(problem(config) != "");
}

TEST_CASE("ServerUrl: hostile and unfit addresses are errors that do not repeat them") {
    for (const std::string bad : {"ftp://sesame",
                                  "https://",
                                  "://h",
                                  "https:///p",
                                  "https://u:sesame@h",
                                  "u:sesame@h:1",
                                  "https://h?token=sesame",
                                  "https://h/p#sesame",
                                  "https://h:0",
                                  "https://h:65536",
                                  "https://h:",
                                  "https://h:+1",
                                  "https://h:1:2",
                                  "https://fd00::1",
                                  "https://[fd00::1",
                                  "https://[sesame]",
                                  "https://[fe80::1%25eth0]",
                                  "https://[::1]x",
                                  "https://h\r\nsesame",
                                  "https://h /",
                                  "https://h\xc3\xa4",
                                  "https://sesame\\x",
                                  "https://u:se/same@h",
                                  "https://h:99999999999999999999"}) {
        INFO(bad);
        const std::string text = problem(with_url(bad));
        CHECK(text.starts_with("api_server.url: "));
        CHECK(text.ends_with("; allowed is http[s]://host:port/prefix"));
        CHECK_FALSE(contains(text, "same"));
    }
}

TEST_CASE("validate: a URL whose scheme is not complete is not taken for a host") {
    for (const char* bad : {"https//kube:6443", "https:/kube", "https:kube:6443", "https:6443",
                            "HTTPS//kube", "https:", "https//"}) {
        INFO(bad);
        CHECK(contains(problem(with_url(bad)),
                       "the scheme is not complete (did you mean https://?)"));
    }
    CHECK(contains(problem(with_url("http:/kube")), "(did you mean http://?)"));
    CHECK(contains(problem(with_url("http//kube")), "(did you mean http://?)"));
    for (const char* good : {"https", "http/prefix", "https.test:6443", "httpsx//a", "http-x:1"}) {
        INFO(good);
        CHECK(problem(with_url(good)).empty());
    }
}

TEST_CASE("ServerUrl: its parts are what a connection needs") {
    const auto url = detail::parse_server_url("HTTPS://[FD00::1]:06443/a/b//", false);
    CHECK(url.tls);
    CHECK(url.host == "fd00::1");
    CHECK(url.port == "6443");
    CHECK(url.prefix == "/a/b");
    CHECK(authority(url) == "[fd00::1]:6443");
    const auto plain = detail::parse_server_url("h", false);
    CHECK_FALSE(plain.tls);
    CHECK(plain.port == "80");
    CHECK(authority(plain) == "h");
}

TEST_CASE("resolve: the server's URL becomes canonical") {
    CHECK(resolved_url("host:6443") == "http://host:6443");
    CHECK(resolved_url("host:6443", {.insecure_skip_verify = true}) == "https://host:6443");
    CHECK(resolved_url("https://h/prefix//") == "https://h/prefix");
    CHECK(resolved_url("HTTPS://H:443/P/") == "https://h/P");
    CHECK(resolved_url("http://h:80") == "http://h");
    CHECK(resolved_url("http://h:443") == "http://h:443");
    CHECK(resolved_url("https://[FD00::1]:6443") == "https://[fd00::1]:6443");
}

TEST_CASE("resolve: credentials over plain http are kept") {
    DiscoveryConfig config = with_url("http://h");
    config.api_server.auth.bearer_token = "t";
    CHECK(resolve(config).scope.api_server.auth.bearer_token == "t");
}

TEST_CASE("resolve: in-cluster access takes the environment and the service account's files") {
    const Pod pod("fd00::1");
    const WatchScope scope = resolve({}, pod.files).scope;
    CHECK(scope.api_server.url == "https://[fd00::1]");
    CHECK(scope.api_server.auth.bearer_token_file == pod.directory.path("token"));
    CHECK(scope.api_server.auth.bearer_token == "");
    CHECK(scope.api_server.tls.ca_file == pod.directory.path("ca.crt"));
    CHECK(scope.namespaces.empty());

    SECTION("without the port's variable") {
        const ScopedVariable port("KUBERNETES_SERVICE_PORT", std::nullopt);
        CHECK(contains(config_error([&] { resolve({}, pod.files); }),
                       "KUBERNETES_SERVICE_PORT is not set"));
    }
    SECTION("with an empty variable") {
        const ScopedVariable host("KUBERNETES_SERVICE_HOST", "");
        CHECK(contains(config_error([&] { resolve({}, pod.files); }),
                       "KUBERNETES_SERVICE_HOST is not set"));
    }
    SECTION("with a port that is none") {
        const ScopedVariable port("KUBERNETES_SERVICE_PORT", "tcp");
        CHECK(contains(config_error([&] { resolve({}, pod.files); }), "the port must be"));
    }
    SECTION("with an empty token") {
        pod.directory.write("token", "\n");
        CHECK(contains(config_error([&] { resolve({}, pod.files); }), "token is empty"));
    }
    SECTION("without the CA") {
        std::filesystem::remove(pod.directory.path("ca.crt"));
        CHECK(contains(config_error([&] { resolve({}, pod.files); }),
                       "cannot read " + pod.directory.path("ca.crt")));
    }
}

TEST_CASE("resolve: headers, impersonation and a proxy count over those of a kubeconfig") {
    const TemporaryDirectory directory;
    DiscoveryConfig config;
    config.kubeconfig_file = directory.write(
        "kc", "current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
              "clusters: [{name: a, cluster: {server: 'https://kube'}}]\n"
              "users: [{name: a, user: {token: t}}]\n");
    config.api_server = {.impersonate = {.user = "jane"},
                         .headers = {{"X-Tenant", "1", ""}},
                         .proxy = {.url = "http://proxy:3128"}};
    const ApiServerConfig server = resolve(config).scope.api_server;
    CHECK(server.auth.bearer_token == "t");
    CHECK(server.impersonate == config.api_server.impersonate);
    CHECK(server.headers == config.api_server.headers);
    CHECK(server.proxy == config.api_server.proxy);
}

TEST_CASE("resolve: namespaces are sorted and unique, and an empty one is all of them") {
    DiscoveryConfig config = with_url();
    config.namespaces = {"b", "a", "b"};
    CHECK(resolve(config).scope.namespaces == std::vector<std::string>{"a", "b"});
    config.namespaces = {"b", ""};
    CHECK(resolve(config).scope.namespaces.empty());
}

TEST_CASE("resolve: own_namespace adds to the names, in vmagent's dialect it replaces none") {
    const Pod pod;
    DiscoveryConfig config;
    config.own_namespace = true;
    CHECK(resolve(config, pod.files).scope.namespaces == std::vector<std::string>{"shop"});
    config.namespaces = {"a"};
    CHECK(resolve(config, pod.files).scope.namespaces == std::vector<std::string>{"a", "shop"});
    config.dialect = LabelDialect::victoriametrics;
    CHECK(resolve(config, pod.files).scope.namespaces == std::vector<std::string>{"a"});
    config.namespaces.clear();
    config.api_server.url = "http://elsewhere";
    CHECK(resolve(config, pod.files).scope.namespaces == std::vector<std::string>{"shop"});
}

TEST_CASE("resolve: an own namespace that is missing, empty or no name is an error") {
    DiscoveryConfig config;
    config.own_namespace = true;
    for (const std::string content : {"", " \n", "a/b", "a\nb"}) {
        const Pod pod("10.0.0.1", content);
        CHECK(contains(config_error([&] { resolve(config, pod.files); }),
                       "own_namespace: " + pod.directory.path("namespace") + " does not hold"));
    }
    const Pod pod;
    std::filesystem::remove(pod.directory.path("namespace"));
    CHECK(config_error([&] {
              resolve(config, pod.files);
          }).starts_with("own_namespace: cannot read"));
}

TEST_CASE("resolve: POD_NAMESPACE comes before the file of the service account") {
    const Pod pod;
    const ScopedVariable variable("POD_NAMESPACE", "payments");
    DiscoveryConfig config;
    config.own_namespace = true;
    CHECK(resolve(config, pod.files).scope.namespaces == std::vector<std::string>{"payments"});
    const ScopedVariable empty("POD_NAMESPACE", "");
    CHECK(resolve(config, pod.files).scope.namespaces == std::vector<std::string>{"shop"});
    const ScopedVariable bad("POD_NAMESPACE", "a/b");
    CHECK(config_error([&] { resolve(config, pod.files); }) ==
          "own_namespace: the environment variable POD_NAMESPACE does not hold the name of a "
          "namespace");
}

TEST_CASE("resolve: selectors of one role are joined in order, those not watched go") {
    DiscoveryConfig config = with_url();
    config.dialect = LabelDialect::victoriametrics;
    config.selectors = {{Role::pod, "foo", ""},
                        {Role::ingress, "x", ""},
                        {Role::node, "n", ""},
                        {Role::pod, " a in (b) ", "y=z"}};
    const std::vector<Selector> pods{{Role::pod, "foo,a in (b)", "y=z"}};
    CHECK(resolve(config).scope.selectors == pods);
    config.attach_metadata.node = true;
    CHECK(resolve(config).scope.selectors ==
          std::vector<Selector>{{Role::node, "n", ""}, {Role::pod, "foo,a in (b)", "y=z"}});
    config.role = Role::service;
    CHECK(resolve(config).scope.selectors.empty());
    config.role = Role::node;
    CHECK(resolve(config).scope.selectors == std::vector<Selector>{{Role::node, "n", ""}});
    config.role = Role::ingress;
    CHECK(resolve(config).scope.selectors == std::vector<Selector>{{Role::ingress, "x", ""}});
}

TEST_CASE("resolve: configurations of one meaning are equal, whatever their role") {
    DiscoveryConfig a = with_url("https://api/");
    a.namespaces = {"x", "y"};
    a.selectors = {{Role::pod, "p", ""}, {Role::service, "", ""}};
    a.role = Role::endpoints;
    DiscoveryConfig b = with_url("HTTPS://API:443");
    b.namespaces = {"y", "x", "x"};
    b.selectors = {{Role::pod, "p", ""}};
    b.min_update_interval = 5s;
    b.max_groups_per_diff = 7;
    CHECK(resolve(a) == resolve(b));
    b.selectors[0].label = "q";
    CHECK(resolve(a) != resolve(b));
}

TEST_CASE("resolve: dialect and metadata options decide about the view, not about the scope") {
    const DiscoveryConfig a = with_url();
    DiscoveryConfig b = a;
    SECTION("dialect") { b.dialect = LabelDialect::victoriametrics; }
    SECTION("metadata") { b.attach_metadata.node = true; }
    CHECK(resolve(a).scope == resolve(b).scope);
    CHECK(resolve(a).view != resolve(b).view);
}

TEST_CASE("resolve: what validate refuses is refused") {
    DiscoveryConfig config = with_url("ftp://h");
    CHECK(config_error([&] { resolve(config); }) == problem(config));
    CHECK(problem(config) != "");
}

TEST_CASE("find_api_server: $KUBECONFIG, in-cluster and ~/.kube/config are tried in this order") {
    const TemporaryDirectory home;
    const ScopedVariable home_variable("HOME", home.path());
    const std::string home_file = home.path(".kube/config");
    const std::string list = home.path("missing") + ":" + home.write("kc", "");
    std::optional<ScopedVariable> kubeconfig(std::in_place, "KUBECONFIG", list);
    std::optional<Pod> pod(std::in_place);
    const auto find = [&](DiscoveryConfig config = {}) {
        find_api_server(config, pod ? pod->files : InClusterFiles{home.path("none")});
        return config;
    };
    CHECK(find().kubeconfig_file == list);
    kubeconfig.emplace("KUBECONFIG", ":");
    CHECK(find().kubeconfig_file == "");
    home.write(".kube/config", "");
    CHECK(find().kubeconfig_file == "");
    CHECK(find({.kubeconfig_context = "c"}).kubeconfig_file == home_file);
    pod.reset();
    const ScopedVariable host("KUBERNETES_SERVICE_HOST", std::nullopt);
    CHECK(find().kubeconfig_file == home_file);

    std::filesystem::remove(home_file);
    CHECK(config_error([&] { find(); }) ==
          "API server: none was given and none was found; tried $KUBECONFIG (not set), "
          "in-cluster (KUBERNETES_SERVICE_HOST is not set), ~/.kube/config (no such file: " +
              home_file + ")");
    CHECK(find(with_url()) == with_url());
}

TEST_CASE("find_api_server: $KUBECONFIG that names no file leads to no other cluster") {
    const TemporaryDirectory home;
    const ScopedVariable home_variable("HOME", home.path());
    home.write(".kube/config", "");
    const Pod pod;
    const ScopedVariable kubeconfig("KUBECONFIG", home.path("a") + "::" + home.path("b"));
    DiscoveryConfig config;
    CHECK(config_error([&] { find_api_server(config, pod.files); }) ==
          "$KUBECONFIG: none of these files exists: " + home.path("a") + ", " + home.path("b") +
              "; name one that does, or unset the variable");
    CHECK(config == DiscoveryConfig{});
    config.kubeconfig_file = "other";
    CHECK_NOTHROW(find_api_server(config, pod.files));
}

TEST_CASE("find_api_server: options that clash with a kubeconfig that was found name it") {
    const TemporaryDirectory home;
    const ScopedVariable home_variable("HOME", home.path());
    const ScopedVariable host("KUBERNETES_SERVICE_HOST", std::nullopt);
    const ScopedVariable none("KUBECONFIG", std::nullopt);
    const std::string path = home.write(".kube/config", "");
    DiscoveryConfig config;
    config.api_server.auth.bearer_token_file = "f";
    CHECK(config_error([&] { find_api_server(config); }) ==
          "api_server.auth.bearer_token_file: needs the URL of api_server; without one, the "
          "kubeconfig determines the server and its credentials: " +
              path);
    const ScopedVariable list("KUBECONFIG", path);
    CHECK(config_error([&] { find_api_server(config); }).ends_with(": " + path));
    config.api_server.auth = {};
    config.api_server.headers = {{"X-A", "1", ""}};  // is added to the headers of the kubeconfig
    CHECK_NOTHROW(find_api_server(config));
}
