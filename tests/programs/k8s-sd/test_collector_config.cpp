#include "collectors/collector_config.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using Problems = std::vector<std::string>;

boost::json::object configs_of(const std::string& yaml, bool show_secrets = false,
                               k8s_sd::LabelDialect dialect = k8s_sd::LabelDialect::prometheus,
                               Problems* problems = nullptr) {
    Problems ignored;
    const auto file = k8s_sd::parse_scrape_configs(yaml, {.dialect = dialect}, "p.yml");
    const std::string text =
        k8s_sd_program::collector_configs(file, show_secrets, problems ? *problems : ignored);
    return boost::json::parse(text).as_object();
}

std::string text_of(const boost::json::object& object) { return boost::json::serialize(object); }

const std::string with_secrets = R"(
scrape_configs:
- job_name: basic
  basic_auth: {username: u, password: hush1}
  proxy_url: http://me:hush2@proxy:3128/
  http_headers: {X-Key: {values: [tenant1], secrets: [hush3], files: [/etc/key]}}
- job_name: bearer
  authorization: {type: Token, credentials: hush4}
- job_name: oauth
  oauth2:
    client_id: i
    client_secret: hush5
    token_url: http://t/
    endpoint_params: {audience: api, empty: ''}
    http_headers: {X-Scope-OrgID: {values: [tenant2]}, X-Key: {secrets: [hush6]}}
- job_name: files
  authorization: {credentials_file: /var/token}
  tls_config: {ca_file: /etc/ca, insecure_skip_verify: true, min_version: TLS13}
)";

}  // namespace

TEST_CASE("collector_configs: has what an entry of scrape_configs says, without discovery") {
    const auto jobs = configs_of(R"(
global: {scrape_interval: 15s, sample_limit: 5}
scrape_configs:
- job_name: 'serviceMonitor/ns/x/0'
  honor_labels: true
  scheme: https
  params: {module: [a, b]}
  kubernetes_sd_configs: [{role: pod}]
  consul_sd_configs: [{server: x}]
  relabel_configs:
  - {source_labels: [a, b], regex: 'x.*', target_label: c, replacement: '$1-y'}
  - {source_labels: [a], modulus: 8, target_label: __tmp_hash, action: hashmod}
)");
    CHECK(jobs.size() == 1);
    const auto& job = jobs.at("serviceMonitor/ns/x/0").as_object();
    const std::string wanted = R"json({"enable_http2":true,"follow_redirects":true,
"honor_labels":true,"job_name":"serviceMonitor/ns/x/0","metrics_path":"/metrics",
"params":{"module":["a","b"]},
"relabel_configs":[{"action":"replace","regex":"x.*","replacement":"$1-y","separator":";",
"source_labels":["a","b"],"target_label":"c"},
{"action":"hashmod","modulus":8,"regex":"(.*)","replacement":"$1","separator":";",
"source_labels":["a"],"target_label":"__tmp_hash"}],
"sample_limit":5,"scheme":"https","scrape_interval":"15s","scrape_timeout":"10s"})json";
    CHECK(boost::json::value(job) == boost::json::parse(wanted));
}

TEST_CASE("collector_configs: rules have the members that Prometheus takes, and no others") {
    const auto jobs = configs_of(R"(
scrape_configs:
- job_name: j
  relabel_configs:
  - {source_labels: [a], target_label: b, action: keepequal}
  - {source_labels: [a], target_label: b, action: dropequal}
  - {regex: 'tmp_.*', action: labeldrop}
  - {source_labels: [a], target_label: b, replacement: '', regex: '', separator: ''}
)");
    const auto& rules = jobs.at("j").at("relabel_configs").as_array();
    for (std::size_t i : {0UL, 1UL}) CHECK(rules[i].as_object().size() == 3);
    CHECK(rules[2].as_object().size() == 2);
    // An empty value differs from the default.
    for (const char* key : {"replacement", "regex", "separator"}) {
        CHECK(rules[3].at(key).as_string().empty());
    }
}

TEST_CASE("collector_configs: versions of TLS before 1.2 reach the collector") {
    const auto jobs = configs_of(R"(scrape_configs:
- job_name: j
  tls_config: {min_version: TLS10, max_version: TLS11}
)");
    const auto& tls = jobs.at("j").at("tls_config");
    CHECK(tls.at("min_version") == "TLS10");
    CHECK(tls.at("max_version") == "TLS11");
}

TEST_CASE("collector_configs: secrets are masked unless they are to be shown") {
    const std::string masked = text_of(configs_of(with_secrets));
    CHECK(masked.find("hush") == masked.npos);
    const auto jobs = configs_of(with_secrets);
    CHECK(jobs.at("basic").at("basic_auth").at("password") == "<secret>");
    CHECK(jobs.at("basic").at("proxy_url") == "http://me:xxxxx@proxy:3128/");
    CHECK(jobs.at("bearer").at("authorization").at("type") == "Token");
    CHECK(jobs.at("files").at("authorization").at("credentials_file") == "/var/token");
    CHECK(jobs.at("files").at("tls_config").at("min_version") == "TLS13");
    // As in Prometheus, `values` are not secret.
    CHECK(jobs.at("basic").at("http_headers") ==
          boost::json::parse(R"({"X-Key":{"files":["/etc/key"],"secrets":["<secret>"],)"
                             R"("values":["tenant1"]}})"));
    const auto& oauth = jobs.at("oauth").at("oauth2");
    CHECK(oauth.at("endpoint_params") == boost::json::parse(R"({"audience":"api","empty":""})"));
    CHECK(oauth.at("http_headers").at("X-Scope-OrgID").at("values").at(0) == "tenant2");
    const std::string shown = text_of(configs_of(with_secrets, true));
    for (int i = 1; i <= 6; ++i) {
        INFO(i);
        CHECK(shown.find("hush" + std::to_string(i)) != shown.npos);
    }
}

TEST_CASE(
    "collector_configs: what may be secret is in no answer, whatever the keys and the dialect") {
    const std::vector<std::string> prometheus{
        "basic_auth: {username: u, password: hush}",
        "authorization: {type: Token, credentials: hush}",
        "bearer_token: hush",
        "http_headers: {X-Key: {secrets: [hush]}}",
        "proxy_url: http://me:hush@proxy:3128/\n  proxy_connect_header: {X-Key: [hush]}",
        "oauth2: {client_id: i, client_secret: hush, token_url: 'http://t/'}",
        "tls_config: {cert: c, key: hush}"};
    const std::vector<std::string> vmagent{"headers: ['X-Key: hush']",
                                           "proxy_authorization: {credentials: hush}",
                                           "proxy_basic_auth: {username: u, password: hush}",
                                           "proxy_bearer_token: hush",
                                           "proxy_bearer_token_file: hush",
                                           "proxy_headers: ['X-Key: hush']",
                                           "proxy_oauth2: {client_secret: hush}",
                                           "proxy_tls_config: {key: hush}"};
    std::mt19937 random(3);
    const auto unknown_key = [&] {
        std::string key = "zq_";
        for (int i = 0; i < 12; ++i) key += static_cast<char>('a' + random() % 26);
        constexpr const char* values[] = {"hush", "[hush]", "{a: {b: [hush]}}"};
        return key + ": " + values[random() % 3];
    };
    for (int round = 0; round < 200; ++round) {
        std::string yaml = "scrape_configs:\n- job_name: j\n";
        yaml += "  " + prometheus[random() % prometheus.size()] + "\n";
        for (const std::string& lines : vmagent) {
            if (random() % 2 == 0) yaml += "  " + lines + "\n";
        }
        for (auto keys = random() % 3; keys > 0; --keys) yaml += "  " + unknown_key() + "\n";
        INFO(yaml);
        for (const auto dialect :
             {k8s_sd::LabelDialect::prometheus, k8s_sd::LabelDialect::victoriametrics}) {
            const auto jobs = configs_of(yaml, false, dialect);
            REQUIRE(jobs.size() == 1);
            CHECK(text_of(jobs).find("hush") == std::string::npos);
        }
    }
}

TEST_CASE("collector_configs: keys of Prometheus unused by k8s_sd are there, others are reported") {
    const std::string keys =
        R"({"body_size_limit":"10MB","enable_compression":false,"extra_scrape_metrics":true,
"fallback_scrape_protocol":"PrometheusText0.0.4","honor_labels":true,"honor_timestamps":false,
"label_limit":1,"label_name_length_limit":2,"label_value_length_limit":3,
"metric_name_escaping_scheme":"dots","native_histogram_bucket_limit":4,
"native_histogram_min_bucket_factor":1.5,"sample_limit":5,"scrape_failure_log_file":"/tmp/x",
"scrape_protocols":["PrometheusText0.0.4"],"track_timestamps_staleness":true})";
    const auto wanted = boost::json::parse(keys).as_object();
    std::string yaml = "scrape_configs:\n- job_name: j\n  proxy_headers: [a]\n  brand_new: 1\n";
    yaml += "  consul_sd_configs: [{server: x}]\n";
    for (const auto& [key, value] : wanted) {
        yaml += "  " + std::string(key) + ": " + boost::json::serialize(value) + "\n";
    }
    for (const auto dialect :
         {k8s_sd::LabelDialect::prometheus, k8s_sd::LabelDialect::victoriametrics}) {
        Problems problems;
        const auto jobs = configs_of(yaml, false, dialect, &problems);
        for (const auto& [key, value] : wanted) CHECK(jobs.at("j").at(key) == value);
        CHECK_FALSE(jobs.at("j").as_object().contains("brand_new"));
        CHECK(problems ==
              Problems{"j: collectors do not get brand_new, proxy_headers: k8s-sd knows "
                       "no such key of Prometheus that may be shown"});
    }
}

TEST_CASE("collector_configs: jobs and keys that only vmagent knows are left out") {
    Problems problems;
    const auto jobs = configs_of(R"(
scrape_configs:
- job_name: taken
  stream_parse: true
  sample_limit: 7
- job_name: conditional
  relabel_configs: [{if: '{a="b"}', action: drop}]
- job_name: metrics
  metric_relabel_configs: [{source_labels: [a, b], action: keep_if_equal}]
)",
                                 false, k8s_sd::LabelDialect::victoriametrics, &problems);
    CHECK(jobs.size() == 1);
    CHECK_FALSE(jobs.at("taken").as_object().contains("stream_parse"));
    CHECK(jobs.at("taken").at("sample_limit") == 7);
    CHECK(problems ==
          Problems{"taken: collectors do not get stream_parse: k8s-sd knows no such key "
                   "of Prometheus that may be shown",
                   "conditional is not for collectors: a rule is one that only vmagent "
                   "knows (if)",
                   "metrics is not for collectors: a rule is one that only vmagent "
                   "knows (keep_if_equal)"});
}
