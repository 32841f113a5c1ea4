#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/config/proxy.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using test::contains;
using test::ScopedVariable;
using test::TemporaryDirectory;

std::string text_of(const CleansedBytes& bytes) { return {bytes.begin(), bytes.end()}; }

std::string proxy_problem(const std::string& url) {
    try {
        parse_proxy_url(url, "field");
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("ProxyUrl: its parts are what a connection needs") {
    struct Case {
        std::string url;
        ProxyUrl::Scheme scheme;
        std::string host, port, username, password;
    };
    using S = ProxyUrl::Scheme;
    const Case cases[] = {
        {"http://proxy", S::http, "proxy", "80", "", ""},
        {"HTTP://Proxy.Corp:3128/", S::http, "proxy.corp", "3128", "", ""},
        {"https://proxy", S::https, "proxy", "443", "", ""},
        {"https://[FD00::1]:8443", S::https, "fd00::1", "8443", "", ""},
        {"socks5://10.0.0.1", S::socks5, "10.0.0.1", "1080", "", ""},
        {"socks5h://p:0999", S::socks5, "p", "999", "", ""},
        {"http://u:p@h:1", S::http, "h", "1", "u", "p"},
        {"http://u@h", S::http, "h", "80", "u", ""},
        {"http://:p@h", S::http, "h", "80", "", "p"},
        {"http://@h", S::http, "h", "80", "", ""},
        {"http://u%40corp:p%3Aa%2f%25@h", S::http, "h", "80", "u@corp", "p:a/%"},
        {"http://u:p:q@r@h", S::http, "h", "80", "u", "p:q@r"},
        {"socks5://a%3ab:%C3%A4@h", S::socks5, "h", "1080", "a:b", "\xc3\xa4"},
    };
    for (const Case& c : cases) {
        INFO(c.url);
        const ProxyUrl url = parse_proxy_url(c.url, "proxy");
        CHECK(url.scheme == c.scheme);
        CHECK(url.host == c.host);
        CHECK(url.port == c.port);
        CHECK(url.username == c.username);
        CHECK(text_of(url.password) == c.password);
    }
}

TEST_CASE("ProxyUrl: hostile and unfit addresses are errors that do not repeat them") {
    const std::string long_text(256, 's');
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "must begin with http://, https:// or socks5://"},
        {"sesame", "must begin with"},
        {"sesame:3128", "must begin with"},
        {"socks4://sesame", "must begin with"},
        {"ftp://u:sesame@h", "must begin with"},
        {"://sesame", "must begin with"},
        {"http", "must begin with"},
        {"http:/u:sesame@h", "must begin with"},
        {"http://", "has no host"},
        {"http://u:sesame@", "has no host"},
        {"http://u:sesame@h/x", "must not have a path"},
        {"http://u:ses/ame@h", "must not have a path"},
        {"http://u:sesame@h?x", "query"},
        {"http://u:sesa#me@h", "query"},
        {"http://u:sesame%@h", "% in the user or password must be written as %25"},
        {"http://u:sesame%4@h", "%25"},
        {"http://u:sesame%zz@h", "%25"},
        {"http://u:sesame%0d%0aX:y@h", "control character"},
        {"http://u%00:sesame@h", "control character"},
        {"http://u%3a:sesame@h", "must not contain a colon"},
        {"http://u:ses\r\name@h", "control character"},
        {"http://u:ses ame@h", "space"},
        {"http://u:s\xc3\xa4same@h", "outside ASCII"},
        {"http://u:sesame@h:0", "port"},
        {"http://u:sesame@h:65536", "port"},
        {"http://u:sesame@h:1:2", "port"},
        {"http://u:sesame@fd00::1", "port"},
        {"http://u:sesame@[sesame]", "not an IPv6 address"},
        {"http://u:sesame@se\\same", "neither a name nor an IP address"},
        {"socks5://u:" + long_text + "@h", "255 bytes"},
        {"socks5://" + long_text + ":sesame@h", "255 bytes"},
        {"socks5://:sesame@h", "needs the name of a user"},
    };
    for (const auto& [url, problem] : cases) {
        INFO(url);
        const std::string text = proxy_problem(url);
        CHECK(text.starts_with("field: "));
        CHECK(contains(text, problem));
        CHECK_FALSE(contains(text, "same"));
    }
}

TEST_CASE("NO_PROXY: what is reached directly") {
    struct Case {
        std::string no_proxy, host;
        bool direct;
        std::string port = "443";
    };
    const Case cases[] = {
        {"", "api.corp", false},
        {"*", "api.corp", true},
        {" , ,", "api.corp", false},
        {"other, *", "api.corp", true},
        {"api.corp", "api.corp", true},
        {"API.Corp", "api.corp", true},
        {"api.corp", "api.corp.", true},
        {"corp", "api.corp", true},
        {"corp", "corp", true},
        {"orp", "api.corp", false},
        {".corp", "api.corp", true},
        {".corp", "corp", false},
        {"*.corp", "api.corp", true},
        {"*.corp", "corp", false},
        {" a , api.corp ", "api.corp", true},
        {"api.corp:443", "api.corp", true},
        {"api.corp:6443", "api.corp", false},
        {"api.corp:6443", "api.corp", true, "6443"},
        {".corp:6443", "api.corp", true, "6443"},
        {":443", "api.corp", false},
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"10.0.0.1:443", "10.0.0.1", true},
        {"10.0.0.1:6443", "10.0.0.1", false},
        {"10.0.0.0/8", "10.200.0.1", true},
        {"10.1.2.3/8", "10.200.0.1", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.0.0.0/8", "api.corp", false},
        {"0.0.0.0/0", "11.0.0.1", true},
        {"10.0.0.0/99", "10.0.0.1", false},
        {"10.0.0.0/", "10.0.0.0", false},
        {"fd00::/8", "fd12::1", true},
        {"fd00::/8", "fe80::1", false},
        {"fd00::/8", "10.0.0.1", false},
        {"fd00::1", "fd00::1", true},
        {"[fd00::1]", "fd00:0::1", true},
        {"[fd00::1]:6443", "fd00::1", true, "6443"},
        {"[fd00::1]:6443", "fd00::1", false},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"[", "api.corp", false},
        {"[]:1", "api.corp", false},
        {"/", "api.corp", false},
        {".", "api.corp", false},
        {"", "localhost", true},
        {"", "localhost.", true},
        {"", "127.0.0.1", true},
        {"", "127.8.8.8", true},
        {"", "::1", true},
        {"", "localhost.corp", false},
    };
    for (const Case& c : cases) {
        INFO('"' << c.no_proxy << "\" " << c.host << ':' << c.port);
        CHECK(is_reached_directly(c.no_proxy, {true, c.host, c.port}) == c.direct);
    }
}

/// The environment of a process.
struct Environs {
    std::map<std::string, std::string> values;

    Variables lookup() const {
        return [this](const char* name) -> const char* {
            const auto found = values.find(name);
            return found == values.end() ? nullptr : found->second.c_str();
        };
    }
    std::string choice(const std::string& host, bool tls = true) const {
        const ProxiedServer server{tls, host, tls ? "443" : "80"};
        const ProxyConfig from_environment{.from_environment = true};
        return choose_proxy(from_environment, server, lookup(), "proxy").url;
    }
};

TEST_CASE("Proxies of the environment: one for each scheme, upper case first") {
    Environs e{{{"HTTPS_PROXY", "http://upper"}, {"https_proxy", "http://lower"}}};
    CHECK(e.choice("api.corp") == "http://upper");
    CHECK(e.choice("api.corp", false) == "");
    e.values["HTTPS_PROXY"] = "";
    CHECK(e.choice("api.corp") == "http://lower");
    e.values["http_proxy"] = "socks5://u:p@h";
    CHECK(e.choice("api.corp", false) == "socks5://u:p@h");
    e.values["NO_PROXY"] = ".corp";
    e.values["no_proxy"] = "*";
    CHECK(e.choice("api.corp") == "");
    CHECK(e.choice("other") == "http://lower");
    CHECK(e.choice("127.0.0.1") == "");
    CHECK(e.choice("localhost", false) == "");
    CHECK(Environs{}.choice("api.corp") == "");
}

TEST_CASE("Proxies of the environment: an address without scheme is one of http") {
    const Environs e{{{"HTTPS_PROXY", "proxy.corp:3128"}}};
    CHECK(e.choice("api.corp") == "http://proxy.corp:3128");
}

TEST_CASE("Proxies of the environment: HTTP_PROXY says nothing to what a web server runs") {
    const Environs e{{{"HTTP_PROXY", "evil"}, {"HTTPS_PROXY", "good"}, {"REQUEST_METHOD", "GET"}}};
    CHECK(e.choice("api.corp", false) == "");
    CHECK(e.choice("api.corp") == "http://good");
}

TEST_CASE("Proxies of the environment: a broken one is an error that names the variable") {
    const auto problem = [](const Environs& e, const std::string& host) {
        return test::config_error([&] { e.choice(host); });
    };
    const Environs upper{{{"HTTPS_PROXY", "http://u:sesame@h:x"}, {"no_proxy", "direct"}}};
    CHECK(problem(upper, "api.corp").starts_with("environment variable HTTPS_PROXY: "));
    CHECK_FALSE(contains(problem(upper, "api.corp"), "sesame"));
    CHECK(problem(upper, "direct").empty());
    CHECK(problem({{{"https_proxy", "ftp://h"}}}, "api.corp")
              .starts_with("environment variable https_proxy: "));
}

TEST_CASE("choose_proxy: what is configured, and what is left of it") {
    const ProxiedServer server{true, "api.corp", "443"};
    const Environs none;
    const Variables variables = none.lookup();
    ProxyConfig config{.url = "http://p", .no_proxy = "other", .connect_headers = {{"a", "b", ""}}};
    ProxyConfig chosen = choose_proxy(config, server, variables, "proxy");
    CHECK(chosen == ProxyConfig{.url = "http://p", .connect_headers = {{"a", "b", ""}}});
    config.no_proxy = "corp";
    CHECK(choose_proxy(config, server, variables, "proxy") == ProxyConfig{});
    CHECK(choose_proxy({}, server, variables, "proxy") == ProxyConfig{});

    // Without exceptions the proxy is used for everything, and with exceptions never for the
    // machine itself.
    const ProxiedServer local{true, "localhost", "443"};
    CHECK(choose_proxy({.url = "http://p"}, local, variables, "proxy").url == "http://p");
    config.no_proxy = "other";
    CHECK(choose_proxy(config, local, variables, "proxy").url == "");
    CHECK(test::config_error([&] {
              choose_proxy({.url = "x"}, server, variables, "a.proxy");
          }).starts_with("a.proxy.url: "));
}

struct ProxyVariables {
    ScopedVariable https{"HTTPS_PROXY", "http://environment"};
    ScopedVariable http{"HTTP_PROXY", "http://environment"};
    ScopedVariable no{"NO_PROXY", std::nullopt};
    ScopedVariable lower{"no_proxy", std::nullopt};
    ScopedVariable cgi{"REQUEST_METHOD", std::nullopt};
};

TEST_CASE("resolve: an explicit server uses the environment as its dialect does") {
    const ProxyVariables variables;
    DiscoveryConfig config;
    config.api_server.url = "https://api.corp";
    const auto proxy = [&] { return resolve(config).scope.api_server.proxy; };
    CHECK(proxy().url == "");
    config.dialect = LabelDialect::victoriametrics;
    CHECK(proxy().url == "http://environment");
    config.api_server.proxy.url = "http://configured";
    CHECK(proxy().url == "http://configured");
    config.dialect = LabelDialect::prometheus;
    CHECK(proxy().url == "http://configured");
    config.api_server.proxy = {.from_environment = true};
    CHECK(proxy() == ProxyConfig{.url = "http://environment"});
    const ScopedVariable no("NO_PROXY", "api.corp");
    CHECK(proxy() == ProxyConfig{});
}

TEST_CASE("resolve: a kubeconfig without proxy-url uses the environment, as kubectl does") {
    const ProxyVariables variables;
    const TemporaryDirectory directory;
    DiscoveryConfig config;
    config.kubeconfig_file = directory.write("config", R"(
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://api.corp"}}]
users: [{name: u, user: {token: t}}]
)");
    CHECK(resolve(config).scope.api_server.proxy.url == "http://environment");
}

TEST_CASE("resolve: in a cluster the proxies of the environment are not used") {
    const ProxyVariables variables;
    const ScopedVariable host("KUBERNETES_SERVICE_HOST", "10.96.0.1");
    const ScopedVariable port("KUBERNETES_SERVICE_PORT", "443");
    const TemporaryDirectory directory;
    directory.write("token", "t");
    directory.write("ca.crt", "c");
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        DiscoveryConfig config;
        config.dialect = dialect;
        const auto proxy = [&] {
            return resolve(config, {directory.path()}).scope.api_server.proxy;
        };
        CHECK(proxy() == ProxyConfig{});
        config.api_server.proxy.from_environment = true;
        CHECK(proxy() == ProxyConfig{});
        config.api_server.proxy = {.url = "http://wanted"};
        CHECK(proxy().url == "http://wanted");
    }
}

TEST_CASE("resolve: the proxy of a token service is decided, too") {
    const ProxyVariables variables;
    DiscoveryConfig config;
    config.api_server.url = "https://api.corp";
    OAuth2Config oauth2{.client_id = "i", .client_secret = "s"};
    oauth2.token_url = "http://token.corp/path?tenant=1";
    oauth2.proxy.from_environment = true;
    config.api_server.auth.oauth2 = oauth2;
    const auto proxy = [&] { return resolve(config).scope.api_server.auth.oauth2->proxy; };
    CHECK(proxy() == ProxyConfig{.url = "http://environment"});
    config.api_server.auth.oauth2->proxy = {};
    config.dialect = LabelDialect::victoriametrics;
    CHECK(proxy() == ProxyConfig{});
}

}  // namespace
}  // namespace k8s_sd::detail
