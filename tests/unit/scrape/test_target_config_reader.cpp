#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/dialects.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <chrono>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A file in the directory "etc" with one job.
ScrapeConfigFile parse(const std::string& keys, LabelDialect dialect) {
    ScrapeConfigOptions options;
    options.dialect = dialect;
    return parse_scrape_configs("scrape_configs:\n- job_name: j\n" + keys, options, "etc/p.yml");
}
Job job(const std::string& keys, LabelDialect dialect = prom) {
    return parse(keys, dialect).jobs.at(0).discovery;
}
/// Errors, one per line.
std::string problem(const std::string& keys, LabelDialect dialect = prom) {
    std::string text;
    for (const ScrapeConfigFailure& failure : parse(keys, dialect).failures) {
        text += failure.where + ": " + failure.message + "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("static_configs: targets and labels are read") {
    for (const LabelDialect dialect : dialects) {
        const Job read = job("  static_configs:\n"
                             "  - targets: ['a:1', b]\n"
                             "    labels: {env: dev, n: 7}\n"
                             "  - targets: [c]\n",
                             dialect);
        CHECK(read.static_configs ==
              std::vector<StaticConfig>{{{"a:1", "b"}, {{"env", "dev"}, {"n", "7"}}}, {{"c"}, {}}});
        CHECK(read.configs.empty());
    }
}

TEST_CASE("static_configs: they stand beside those of Kubernetes") {
    const Job read = job("  kubernetes_sd_configs: [{role: pod}]\n"
                         "  static_configs: [{targets: [a]}]\n");
    CHECK(read.configs.size() == 1);
    CHECK(read.static_configs.size() == 1);
}

TEST_CASE("static_configs: Prometheus refuses URLs, to vmagent they are targets") {
    const std::string keys = "  static_configs: [{targets: ['http://a/m']}]\n";
    CHECK(contains(problem(keys), "etc/p.yml:3: scrape_configs[0].static_configs[0].targets[0]: a "
                                  "target is host:port"));
    CHECK(job(keys, vm).static_configs[0].targets[0] == "http://a/m");
    // Rules may turn it into a parameter, as the blackbox exporter requires.
    CHECK(job(keys + "  relabel_configs: [{target_label: x, replacement: y}]\n")
              .static_configs[0]
              .targets[0] == "http://a/m");
    CHECK_FALSE(problem(keys + "  relabel_configs: []\n").empty());
}

TEST_CASE("static_configs: the label __address__ is the address for vmagent alone") {
    const std::string keys = "  static_configs: [{targets: [a, b], labels: {__address__: c}}]\n";
    CHECK(job(keys).static_configs[0].targets == std::vector<std::string>{"a", "b"});
    CHECK(job(keys, vm).static_configs[0].targets == std::vector<std::string>{"c", "c"});
}

TEST_CASE("file_sd_configs: relative paths are relative to the file, and cleaned") {
    const std::string keys =
        "  file_sd_configs: [{files: [t.json, ./d/../e/*.yml, /abs//x.yaml]}]\n";
    const Job read = job(keys);
    REQUIRE(read.file_sd_configs.size() == 1);
    CHECK(read.file_sd_configs[0].files ==
          std::vector<std::string>{"etc/t.json", "etc/e/*.yml", "/abs//x.yaml"});
    CHECK(read.file_sd_configs[0].directory == "");
    CHECK(read.file_sd_configs[0].interval == 5s);
    CHECK(job(keys, vm).file_sd_configs[0].directory == "etc");
    CHECK(job("  file_sd_configs: [{files: [any]}]\n", vm).file_sd_configs[0].files ==
          std::vector<std::string>{"etc/any"});
}

TEST_CASE("file_sd_configs: a refresh_interval can only make scans more frequent") {
    const auto interval = [](const std::string& text) {
        return job("  file_sd_configs: [{files: [t.json], refresh_interval: " + text + "}]\n")
            .file_sd_configs[0]
            .interval;
    };
    CHECK(interval("5m") == 5s);
    CHECK(interval("2s") == 2s);
    CHECK(interval("0s") == 5s);
}

TEST_CASE("http_sd_configs: URL, interval and all of the client are read") {
    const Job read = job("  http_sd_configs:\n"
                         "  - url: https://lists.example/t?x=1\n"
                         "    refresh_interval: 1m30s\n"
                         "    authorization: {credentials_file: token}\n"
                         "    tls_config: {ca_file: ca.crt}\n"
                         "    proxy_url: http://proxy:3128\n"
                         "    http_headers: {X-Team: {values: [shop]}}\n"
                         "    follow_redirects: false\n"
                         "    enable_http2: false\n");
    REQUIRE(read.http_sd_configs.size() == 1);
    const HttpSdConfig& config = read.http_sd_configs[0];
    CHECK(config.url == "https://lists.example/t?x=1");
    CHECK(config.interval == 90s);
    CHECK(config.auth.bearer_token_file == "etc/token");
    CHECK(config.tls.ca_file == "etc/ca.crt");
    CHECK(config.proxy.url == "http://proxy:3128");
    CHECK(config.headers == std::vector<HttpHeader>{{"X-Team", "shop", {}, false}});
    CHECK_FALSE(config.follow_redirects);
    CHECK(config.dialect == prom);
}

TEST_CASE("http_sd_configs: the default interval is that of the program") {
    const std::string keys = "  http_sd_configs: [{url: 'http://a'}]\n";
    CHECK(job(keys).http_sd_configs[0].interval == 60s);
    CHECK(job(keys, vm).http_sd_configs[0].interval == 30s);
    CHECK(job(keys, vm).http_sd_configs[0].dialect == vm);
}

TEST_CASE("Targets from elsewhere: mistakes are reported by file, line and key, without secrets") {
    const std::pair<const char*, const char*> table[] = {
        {"  static_configs:\n  -\n", "static_configs[0]: an entry must not be empty"},
        {"  static_configs: {}\n", "etc/p.yml:3: scrape_configs[0].static_configs: must be a list"},
        {"  static_configs: [{target: [a]}]\n", "static_configs[0].target: unknown key"},
        {"  static_configs: [{targets: a}]\n", "targets: must be a list"},
        {"  static_configs: [{labels: {a: [b]}}]\n", "labels.a: must be a text"},
        {"  static_configs: [{labels: {'': b}}]\n", "a label needs a name"},
        {"  file_sd_configs:\n  - files: []\n",
         "etc/p.yml:4: scrape_configs[0].file_sd_configs[0]: names no file"},
        {"  file_sd_configs:\n  - files:\n    - a.json\n    - b.txt\n",
         "etc/p.yml:6: scrape_configs[0].file_sd_configs[0].files[1]: must end with"},
        {"  file_sd_configs: [{files: ['http://a/b.json']}]\n",
         "reading it from a URL is not supported"},
        {"  file_sd_configs: [{files: [a.json], interval: 5s}]\n", "interval: unknown key"},
        {"  file_sd_configs: [{files: [a.json], refresh_interval: 5}]\n", "refresh_interval: "},
        {"  http_sd_configs:\n  - refresh_interval: 5s\n",
         "etc/p.yml:4: scrape_configs[0].http_sd_configs[0]: is missing"},
        {"  http_sd_configs:\n  - url: a/b\n",
         "etc/p.yml:4: scrape_configs[0].http_sd_configs[0].url: must begin with http://"},
        {"  http_sd_configs: [{url: 'http://me:hunter2@a'}]\n",
         "must not contain a user or password"},
        {"  http_sd_configs:\n  - url: http://a\n    basic_auth: {username: 'a:b'}\n",
         "etc/p.yml:5: scrape_configs[0].http_sd_configs[0].basic_auth.username: must not"},
        {"  http_sd_configs: [{url: 'http://a', bearer_token: a, basic_auth: {username: b}}]\n",
         "must not be set together with"},
        {"  http_sd_configs: [{url: 'http://a', proxy_bearer_token: hunter2}]\n",
         "http_sd_configs[0].proxy_bearer_token: is not supported here"},
        {"  kubernetes_sd_configs: [{role: pod, proxy_basic_auth: {password: hunter2}}]\n",
         "kubernetes_sd_configs[0].proxy_basic_auth: is not supported here"},
        {"  http_sd_configs: [{url: 'http://a', enable_http2: maybe}]\n", "must be true or false"}};
    for (const auto& [keys, text] : table) {
        CAPTURE(keys);
        CHECK(contains(problem(keys), text));
        CHECK_FALSE(contains(problem(keys), "hunter2"));
    }
}

TEST_CASE("Targets from elsewhere: all mistakes of a job are reported together") {
    const std::string problems =
        problem("  static_configs: [{target: []}, {targets: [a]}, {targets: b}]\n"
                "  file_sd_configs: [{files: []}, {files: [a.txt]}]\n"
                "  http_sd_configs: [{}, {url: ftp://a}]\n");
    CHECK(std::count(problems.begin(), problems.end(), '\n') == 6);
}
