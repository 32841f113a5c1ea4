#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/target_configs.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/dialects.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

template <class Config>
std::string problem(const Config& config) {
    return config_error([&] { validate(config); });
}
std::string file_problem(const std::string& path, LabelDialect dialect = prom) {
    FileSdConfig config;
    config.files = {path};
    config.dialect = dialect;
    return problem(config);
}
std::string url_problem(const std::string& url) {
    HttpSdConfig config;
    config.url = url;
    return problem(config);
}

}  // namespace

TEST_CASE("validate: static targets are texts, and labels have names") {
    CHECK(problem(StaticConfig{}) == "");
    CHECK(problem(StaticConfig{{"a:1", ""}, {{"x", ""}}}) == "");
    CHECK(problem(StaticConfig{{"a", "\xff"}, {}}) == "targets[1]: is not UTF-8");
    CHECK(problem(StaticConfig{{}, {{"", "x"}}}) == "labels: a label has no name");
    CHECK(problem(StaticConfig{{}, {{"x", "\xff"}}}) == "labels: is not UTF-8");
}

TEST_CASE("validate: Prometheus knows files of targets by their names") {
    for (const char* path : {"a.json", "/d/a.yml", "d/*.yaml", "d/a*.JSON", "*.YML", "d.x/*b*.YAML",
                             "d/[ab].json", ".json"}) {
        CAPTURE(path);
        CHECK(file_problem(path) == "");
    }
    for (const char* path :
         {"a", "a.txt", "d*/a.json", "*/a.json", "a.json/", "a.Json", "a.json*"}) {
        CAPTURE(path);
        CHECK(file_problem(path) ==
              "files[0]: must end with .json, .yml or .yaml, and may have * in its last part");
        CHECK(file_problem(path, vm) == "");
    }
}

TEST_CASE("validate: an entry names at least one file, and limits are no zero") {
    CHECK(problem(FileSdConfig{}) == "files: names no file");
    CHECK(file_problem("") == "files[0]: is empty");
    CHECK(file_problem(std::string("a\0b.json", 8)) == "files[0]: is no path");
    FileSdConfig config;
    config.files = {"a.json"};
    config.interval = 0s;
    CHECK(problem(config) == "interval: must be longer than 0");
    config.interval = 1s;
    for (std::size_t FileSdConfig::*limit :
         {&FileSdConfig::max_files, &FileSdConfig::max_file_bytes, &FileSdConfig::max_bytes,
          &FileSdConfig::max_targets}) {
        FileSdConfig limited = config;
        limited.*limit = 0;
        CHECK(contains(problem(limited), "must be greater than zero"));
    }
}

TEST_CASE("validate: the URL of a list has a scheme and a host, and no user") {
    for (const char* url : {"http://a", "https://a:8443/x/?y=1&z=%20", "HTTP://[::1]:80/",
                            "http://a#f", "http://a?x"}) {
        CAPTURE(url);
        CHECK(url_problem(url) == "");
    }
    CHECK(url_problem("") == "url: is missing");
    for (const char* url : {"a/b", "h/x?u=http://y", "h?http://y", "h#http://y"}) {
        CHECK(contains(url_problem(url), "url: must begin with http:// or https://"));
    }
    CHECK(contains(url_problem("ftp://a"), "url: the scheme must be http or https"));
    CHECK(contains(url_problem("http:///x"), "url: has no host"));
    const std::string user = url_problem("http://me:hunter2@a/x");
    CHECK(contains(user, "must not contain a user or password"));
    CHECK_FALSE(contains(user, "hunter2"));
}

TEST_CASE("validate: credentials, headers, TLS and proxy of a list are checked with their places") {
    HttpSdConfig config;
    config.url = "http://a";
    SECTION("credentials") {
        config.auth.bearer_token = "t";
        config.auth.bearer_token_file = "f";
        CHECK(contains(problem(config), "auth."));
    }
    SECTION("headers") {
        config.headers = {{"Host", "x", {}}};
        CHECK(contains(problem(config), "headers[0].name"));
    }
    SECTION("proxy") {
        config.proxy.no_proxy = "x";
        CHECK(contains(problem(config), "proxy.no_proxy"));
    }
}

TEST_CASE("parse_list_url: the path goes with its query, escaped where it must be") {
    const auto parse = [](const std::string& url) {
        const auto parts = detail::parse_list_url(url);
        return detail::to_string(parts.server) + " " + parts.path;
    };
    CHECK(parse("http://a") == "http://a /");
    CHECK(parse("HTTPS://A:443/x/?y=1#f") == "https://a /x/?y=1");
    CHECK(parse("http://a?x=1") == "http://a /?x=1");
    CHECK(parse("http://a/b c\r\nX: y") == "http://a /b%20c%0D%0AX:%20y");
}

TEST_CASE(
    "resolve_http_sd: vmagent uses the proxies of the environment, Prometheus if configured") {
    const ScopedVariable proxy("HTTP_PROXY", "http://proxy:3128");
    const ScopedVariable lower("http_proxy", std::nullopt);
    const ScopedVariable none("NO_PROXY", std::nullopt);
    const ScopedVariable lower_none("no_proxy", std::nullopt);
    HttpSdConfig config;
    config.url = "http://lists.example/x";
    CHECK(detail::resolve_http_sd(config).proxy.url == "");
    config.dialect = vm;
    CHECK(detail::resolve_http_sd(config).proxy.url == "http://proxy:3128");
    config.dialect = prom;
    config.proxy.from_environment = true;
    CHECK(detail::resolve_http_sd(config).proxy.url == "http://proxy:3128");
}
