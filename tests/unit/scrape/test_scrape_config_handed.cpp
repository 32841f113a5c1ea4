#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace scrape_config_handed_tests {

using namespace k8s_sd;
using namespace std::chrono_literals;

namespace {

constexpr auto V = LabelDialect::victoriametrics;
using Texts = std::map<std::string, std::string>;
using About = ConfigNoteKind;

ScrapeConfigFile parse(const std::string& yaml, const ScrapeConfigOptions& options = {}) {
    return parse_scrape_configs(yaml, options, "d/p.yml");
}
/// A file with one job, whose keys begin on line 3.
std::string job(const std::string& lines) { return "scrape_configs:\n- job_name: j\n" + lines; }

ScrapeJob only_job(const std::string& yaml, const ScrapeConfigOptions& options = {}) {
    const ScrapeConfigFile file = parse(yaml, options);
    INFO((file.failures.empty() ? "" : file.failures[0].where + file.failures[0].message));
    REQUIRE(file.jobs.size() == 1);
    return file.jobs.front();
}

Texts json_of(const ConfigValues& values) {
    Texts texts;
    for (const auto& [key, value] : values) texts[key] = value.json;
    return texts;
}

}  // namespace

TEST_CASE("Handed over: the HTTP client of a job comes typed") {
    const SharedValue<ScrapeClient> prometheus = only_job(job(R"yaml(
  authorization: {type: Token, credentials_file: token}
  tls_config: {ca_file: /ca.crt, server_name: s, insecure_skip_verify: true, min_version: TLS13}
  proxy_url: http://proxy:3128
  no_proxy: .local
  proxy_connect_header: {X-P: [a]}
  http_headers: {Accept: {values: [b]}, X-Key: {secrets: [c]}}
  follow_redirects: false
  enable_http2: false
)yaml"))
                                                     .client;
    ScrapeClient expected;
    expected.auth.scheme = "Token";
    expected.auth.bearer_token_file = "d/token";
    expected.tls.ca_file = "/ca.crt";
    expected.tls.server_name = "s";
    expected.tls.insecure_skip_verify = true;
    expected.tls.min_version = TlsVersion::tls_1_3;
    expected.proxy = {
        .url = "http://proxy:3128", .no_proxy = ".local", .connect_headers = {{"X-P", "a", ""}}};
    expected.headers = {{"Accept", "b", "", false}, {"X-Key", "c", "", true}};
    expected.follow_redirects = false;
    expected.enable_http2 = false;
    CHECK(prometheus == expected);

    const SharedValue<ScrapeClient> vmagent =
        only_job(job("  basic_auth: {username: u, password_file: p}\n  headers: ['X-A: b']\n"),
                 {.dialect = V})
            .client;
    expected = {};
    expected.auth.username = "u";
    expected.auth.password_file = "d/p";
    expected.headers = {{"X-A", "b", ""}};
    CHECK(vmagent == expected);

    const auto old = only_job(job("  tls_config: {max_version: TLS11}\n"
                                  "  oauth2: {client_id: i, token_url: 'http://t', tls_config: "
                                  "{min_version: TLS10, max_version: TLS10}}\n"))
                         .client;
    CHECK(old->tls.max_version == TlsVersion::tls_1_1);
    CHECK(old->auth.oauth2->tls.min_version == TlsVersion::tls_1_0);

    const auto oauth2 = only_job(job("  oauth2: {client_id: i, client_secret: s, token_url: "
                                     "'http://t', scopes: [a]}\n"))
                            .client->auth.oauth2;
    REQUIRE(oauth2);
    CHECK(oauth2->client_id == "i");
    CHECK(only_job(job("")).client == ScrapeClient{});
}

TEST_CASE("Handed over: everything else comes as JSON with its place") {
    const ScrapeJob parsed = only_job(job(R"yaml(
  honor_labels: yes
  honor_timestamps: off
  sample_limit: 100
  body_size_limit: 10MB
  scrape_protocols: [OpenMetricsText1.0.0, PrometheusText0.0.4]
  fallback_scrape_protocol: PrometheusText0.0.4
  enable_compression: false
  native_histogram_min_bucket_factor: 1.10
  consul_sd_configs: [{server: s}]
  vultr_configs: [{}]
  scrape_align_interval: 1m
  proxy_basic_auth: {username: u, password: sesame}
  key_of_a_newer_program: {x: [1, ~]}
)yaml"));
    CHECK(json_of(parsed.settings) ==
          Texts{{"honor_labels", "true"},
                {"honor_timestamps", "false"},
                {"sample_limit", "100"},
                {"body_size_limit", "\"10MB\""},
                {"scrape_protocols", R"(["OpenMetricsText1.0.0","PrometheusText0.0.4"])"},
                {"fallback_scrape_protocol", "\"PrometheusText0.0.4\""},
                {"enable_compression", "false"},
                {"native_histogram_min_bucket_factor", "1.10"},
                {"consul_sd_configs", R"([{"server":"s"}])"},
                {"vultr_configs", "[{}]"},
                {"scrape_align_interval", "\"1m\""},
                {"proxy_basic_auth", R"({"username":"u","password":"sesame"})"},
                {"key_of_a_newer_program", R"({"x":[1,null]})"}});
    CHECK(parsed.settings.at("sample_limit").where == "d/p.yml:6: scrape_configs[0].sample_limit");
}

TEST_CASE("Handed over: merge keys and global are resolved") {
    const ScrapeConfigFile file = parse(R"yaml(
global:
  sample_limit: 5
  label_limit: 7
  scrape_protocols: [PrometheusProto]
  body_size_limit: 1MB
  evaluation_interval: 30s
  external_labels: {a: 1.10, b: yes}
remote_write: [{url: "http://h"}]
rule_files: [r]
scrape_configs:
- &base
  job_name: a
  honor_labels: true
  sample_limit: 0
  body_size_limit: 0MiB
  label_limit: 9
- <<: *base
  job_name: b
  honor_labels: false
)yaml");
    REQUIRE(file.jobs.size() == 2);
    const Texts inherited{{"honor_labels", "true"},
                          {"sample_limit", "5"},
                          {"label_limit", "9"},
                          {"scrape_protocols", R"(["PrometheusProto"])"},
                          {"body_size_limit", "\"1MB\""}};
    CHECK(json_of(file.jobs[0].settings) == inherited);
    Texts second = inherited;
    second["honor_labels"] = "false";
    CHECK(json_of(file.jobs[1].settings) == second);
    CHECK(file.jobs[0].settings.at("sample_limit").where == "d/p.yml:3: global.sample_limit");
    CHECK(file.global.at("external_labels").json == R"({"a":"1.10","b":"yes"})");
    CHECK(file.global.at("evaluation_interval").json == "\"30s\"");
    CHECK(json_of(file.settings) ==
          Texts{{"remote_write", R"([{"url":"http://h"}])"}, {"rule_files", R"(["r"])"}});
}

TEST_CASE("Handed over: notes say what a key is about") {
    const ScrapeConfigFile file = parse("rule_files: [a]\nglobal: {external_labels: {a: b}}\n" +
                                        job("  honor_labels: true\n"
                                            "  authorization: {credentials: c}\n"
                                            "  dns_sd_configs: []\n"
                                            "  aws_sd_configs: []\n"
                                            "  label_limit: 1\n"
                                            "  new_key: 1\n"));
    const std::vector<ConfigNote> expected{
        {"d/p.yml:1: rule_files", "is not about targets: left to the program", About::samples},
        {"d/p.yml:2: global.external_labels", "is not about targets: left to the program",
         About::samples},
        {"d/p.yml:5: scrape_configs[0].honor_labels", "is about how to scrape: left to the program",
         About::scraping},
        {"d/p.yml:6: scrape_configs[0].authorization",
         "is about how to scrape: left to the program", About::scraping},
        {"d/p.yml:7: scrape_configs[0].dns_sd_configs",
         "finds targets in a way unknown to k8s_sd: left to the program", About::targets},
        {"d/p.yml:8: scrape_configs[0].aws_sd_configs",
         "finds targets in a way unknown to k8s_sd: left to the program", About::targets},
        {"d/p.yml:9: scrape_configs[0].label_limit", "is not about targets: left to the program",
         About::samples},
        {"d/p.yml:10: scrape_configs[0].new_key", "is an unknown key: ignored", About::unknown}};
    CHECK(file.notes == expected);
    CHECK(file.failures.empty());
}

TEST_CASE("Handed over: strict mode refuses every note") {
    const char* lines[] = {"honor_labels: true", "authorization: {credentials: c}",
                           "dns_sd_configs: []", "new_key: 1", "aws_sd_configs: []"};
    for (const char* line : lines) {
        INFO(line);
        const std::string yaml = job("  " + std::string(line) + "\n");
        CHECK(parse(yaml).jobs.size() == 1);
        CHECK_THROWS_AS(parse(yaml, {.strict = true}), ScrapeConfigError);
    }
    CHECK_THROWS_AS(parse("rule_files: []", {.strict = true}), ScrapeConfigError);
    CHECK_THROWS_AS(parse("global: {external_labels: {}}", {.strict = true}), ScrapeConfigError);
    CHECK(parse(job("  kubernetes_sd_configs: [{role: pod}]\n"), {.strict = true}).jobs.size() ==
          1);
}

TEST_CASE(
    "Handed over: a key that is nearly another one is a mistake, not one of a newer program") {
    for (const char* key :
         {"relable_configs", "honour_labels", "kubernets_sd_configs", "job_nam"}) {
        INFO(key);
        const ScrapeConfigFile file = parse(job("  " + std::string(key) + ": []\n"));
        REQUIRE(file.failures.size() == 1);
        CHECK(file.failures[0].message.find("did you mean") != std::string::npos);
    }
    CHECK_THROWS_AS(parse("scrape_config: []"), ScrapeConfigError);
    CHECK_THROWS_AS(parse("global: {scrape_intervall: 1s}"), ScrapeConfigError);
    CHECK(parse("scraping: []").notes.at(0).kind == About::unknown);
}

TEST_CASE("Handed over: texts stay as they are written, numbers are numbers") {
    const std::tuple<const char*, const char*, const char*> table[] = {
        {"proxy_bearer_token: yes", "proxy_bearer_token", "\"yes\""},
        {"proxy_bearer_token: 1e9", "proxy_bearer_token", "\"1e9\""},
        {"proxy_basic_auth: {username: on, password: 0123}", "proxy_basic_auth",
         R"({"username":"on","password":"0123"})"},
        {"proxy_authorization: {credentials: 1e9}", "proxy_authorization",
         R"({"credentials":"1e9"})"},
        {"sample_limit: 0x10", "sample_limit", "16"},
        {"sample_limit: -1", "sample_limit", "-1"},
        {"max_scrape_size: 1GB512MB", "max_scrape_size", "\"1GB512MB\""},
        {"max_scrape_size: 1e6", "max_scrape_size", "\"1e6\""},
        {"max_scrape_size: 2EiB", "max_scrape_size", "\"2EiB\""},
        {"max_scrape_size: 1.5t", "max_scrape_size", "\"1.5t\""},
        {"max_scrape_size: 10mb", "max_scrape_size", "\"10mb\""},
        {"body_size_limit: -1MB", "body_size_limit", "\"-1MB\""},
        {"body_size_limit: .5MiB", "body_size_limit", "\".5MiB\""},
        {"body_size_limit: 1GB512MB", "body_size_limit", "\"1GB512MB\""},
        {"body_size_limit: 0", "body_size_limit", "\"0\""},
        {"scrape_align_interval: 90s", "scrape_align_interval", "\"90s\""}};
    for (const auto& [line, key, json] : table) {
        INFO(line);
        const ScrapeConfigFile file = parse(job("  " + std::string(line) + "\n"));
        REQUIRE(file.jobs.size() == 1);
        CHECK(file.jobs[0].settings.at(key).json == json);
    }
}

TEST_CASE("Handed over: values of the wrong kind are mistakes") {
    const char* lines[] = {"honor_labels: perhaps",
                           "sample_limit: x",
                           "body_size_limit: many",
                           "body_size_limit: 10XB",
                           "body_size_limit: MB",
                           "body_size_limit: 1GB-2MB",
                           "body_size_limit: 100",
                           "body_size_limit: -1",
                           "body_size_limit: 10mb",
                           "body_size_limit: 10M",
                           "body_size_limit: 1e6",
                           "body_size_limit: ''",
                           "body_size_limit: .MB",
                           "sample_limit: --1",
                           "scrape_protocols: a",
                           "scrape_align_interval: 1x",
                           "native_histogram_min_bucket_factor: a",
                           "fallback_scrape_protocol: []",
                           "proxy_tls_config: []",
                           "static_configs: {}",
                           "aws_sd_configs: x",
                           "authorization: []",
                           "follow_redirects: perhaps",
                           "proxy_url: ftp://h",
                           "tls_config: {cert_file: c}",
                           "http_headers: {a b: {values: [h]}}",
                           "http_headers: {Authorization: {values: [h]}}",
                           "http_headers: {host: {secrets: [h]}}",
                           "http_headers: {X-Prometheus-Scrape-Timeout-Seconds: {}}",
                           "headers: [\"X-A: a\\u0007\"]"};
    for (const char* line : lines) {
        INFO(line);
        const ScrapeConfigFile file = parse(job("  " + std::string(line) + "\n"));
        REQUIRE(file.failures.size() == 1);
        CHECK(file.failures[0].where.starts_with("d/p.yml:3: scrape_configs[0]."));
    }
}

TEST_CASE("Handed over: values that only stand elsewhere are equal") {
    const ScrapeJob here = only_job(job("  honor_labels: true\n"));
    const ScrapeJob there = only_job(job("\n\n  honor_labels: yes\n"));
    CHECK(here == there);
    CHECK(here.settings.at("honor_labels").where != there.settings.at("honor_labels").where);
}

TEST_CASE("vmagent's dialect: rules of global come before those of a job") {
    const std::string yaml = R"yaml(
global:
  relabel_configs: [{target_label: a, replacement: g}]
  metric_relabel_configs: [{action: labeldrop, regex: g}]
scrape_configs:
- job_name: j
  relabel_configs: [{target_label: b, replacement: j}]
- job_name: k
)yaml";
    const ScrapeConfigFile file = parse(yaml, {.dialect = V});
    REQUIRE(file.jobs.size() == 2);
    const auto targets = [](const RelabelRules& rules) {
        std::vector<std::string> labels;
        for (const RelabelRule& rule : rules) labels.push_back(rule.target_label + rule.regex);
        return labels;
    };
    using Labels = std::vector<std::string>;
    CHECK(targets(file.jobs[0].scrape.relabel_configs) == Labels{"a(.*)", "b(.*)"});
    CHECK(targets(file.jobs[0].scrape.metric_relabel_configs) == Labels{"g"});
    CHECK(targets(file.jobs[1].scrape.relabel_configs) == Labels{"a(.*)"});
    CHECK_THROWS_AS(parse(yaml), ScrapeConfigError);
    CHECK_THROWS_AS(parse("global: {relabel_configs: [{action: kep}]}", {.dialect = V}),
                    ScrapeConfigError);
}

TEST_CASE("vmagent's dialect: a job inherits the timeout of global as it is written") {
    const auto timeout = [](const std::string& global, const std::string& lines, LabelDialect d) {
        return only_job(global + job(lines), {.dialect = d}).scrape.scrape_timeout;
    };
    constexpr auto P = LabelDialect::prometheus;
    const std::string short_interval = "global: {scrape_interval: 5s}\n";
    CHECK(timeout(short_interval, "  scrape_interval: 1m\n", V) == 10s);
    CHECK(timeout(short_interval, "  scrape_interval: 1m\n", P) == 5s);
    CHECK(timeout(short_interval, "", V) == 5s);
    const std::string long_timeout = "global: {scrape_timeout: 2m}\n";
    CHECK(timeout(long_timeout, "  scrape_interval: 5m\n", V) == 2min);
    CHECK(timeout(long_timeout, "", V) == 1min);
}

TEST_CASE("vmagent's dialect: variables come from the host") {
    const std::string yaml =
        job("  kubernetes_sd_configs:\n"
            "  - {role: pod, selectors: [{role: pod, field: spec.nodeName=%{KUBE_NODE_NAME}}]}\n");
    const VariableLookup variables = [](std::string_view name) -> std::optional<std::string> {
        if (name == "KUBE_NODE_NAME") return "node-1";
        return std::nullopt;
    };
    const ScrapeJob parsed = only_job(yaml, {.dialect = V, .variables = variables});
    CHECK(parsed.discovery.configs.at(0).selectors.at(0).field == "spec.nodeName=node-1");
    CHECK_THROWS_AS(parse(yaml, {.dialect = V}), ScrapeConfigError);
}

}  // namespace scrape_config_handed_tests
