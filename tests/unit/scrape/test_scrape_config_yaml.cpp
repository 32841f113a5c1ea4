#include "k8s_sd/detail/scrape/scrape_job_reader.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "support/allocations.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace scrape_config_yaml_tests {

using namespace k8s_sd;
using namespace std::chrono_literals;
using k8s_sd::test::config_error;
using k8s_sd::test::memory_search;
using k8s_sd::test::TemporaryDirectory;

namespace {

ScrapeConfigFile parse(const std::string& yaml, const ScrapeConfigOptions& options = {}) {
    return parse_scrape_configs(yaml, options, "p.yml");
}
/// All errors, one per line, whether they refuse the file or a job.
std::string problem(const std::string& yaml, const ScrapeConfigOptions& options = {}) {
    std::string text;
    const auto add = [&](const std::vector<ScrapeConfigFailure>& failures) {
        for (const ScrapeConfigFailure& failure : failures) {
            text += (text.empty() ? "" : "\n") + failure.where + ": " + failure.message;
        }
    };
    try {
        add(parse(yaml, options).failures);
    } catch (const ScrapeConfigError& e) {
        add(e.failures());
        CHECK(e.what() == text);
    }
    return text;
}
/// A file with one job, whose keys begin on line 3.
std::string job(const std::string& lines) { return "scrape_configs:\n- job_name: j\n" + lines; }

ScrapeConfig only_job(const std::string& yaml, const ScrapeConfigOptions& options = {}) {
    const ScrapeConfigFile file = parse(yaml, options);
    REQUIRE(file.jobs.size() == 1);
    return file.jobs.front().scrape;
}

}  // namespace

TEST_CASE("parse_scrape_configs: every key reaches its field") {
    const ScrapeConfigFile file = parse(R"yaml(
scrape_configs:
- job_name: pods
  scheme: https
  metrics_path: /m
  params: {module: [http_2xx], match: [a, "b"]}
  scrape_interval: 30s
  scrape_timeout: 1500ms
  target_limit: 7
  keep_dropped_targets: 100
  metric_name_validation_scheme: legacy
  convert_classic_histograms_to_nhcb: true
  always_scrape_classic_histograms: yes
  scrape_native_histograms: on
  relabel_configs:
  - {action: keep, source_labels: [__meta_kubernetes_namespace], regex: default}
  metric_relabel_configs:
  - {action: labeldrop, regex: tmp}
  kubernetes_sd_configs:
  - {role: pod, namespaces: {names: [a]}}
  - role: node
)yaml");
    REQUIRE(file.jobs.size() == 1);
    ScrapeConfig expected;
    expected.job_name = "pods";
    expected.scheme = "https";
    expected.metrics_path = "/m";
    expected.params = {{"match", {"a", "b"}}, {"module", {"http_2xx"}}};
    expected.scrape_interval = 30s;
    expected.scrape_timeout = 1500ms;
    expected.target_limit = 7;
    expected.keep_dropped_targets = 100;
    expected.metric_name_validation_scheme = NameValidation::legacy;
    expected.convert_classic_histograms_to_nhcb = true;
    expected.always_scrape_classic_histograms = true;
    expected.scrape_native_histograms = true;
    RelabelRule keep;
    keep.action = RelabelAction::keep;
    keep.source_labels = {"__meta_kubernetes_namespace"};
    keep.regex = "default";
    RelabelRule labeldrop;
    labeldrop.action = RelabelAction::labeldrop;
    labeldrop.regex = "tmp";
    expected.relabel_configs = {keep};
    expected.metric_relabel_configs = {labeldrop};
    CHECK(file.jobs[0].scrape == expected);
    const Job discovery{
        .name = "pods",
        .configs = {{.role = Role::pod, .namespaces = {"a"}}, {.role = Role::node}}};
    CHECK(file.jobs[0].discovery == discovery);
    CHECK(file.discovery_jobs() == std::vector{discovery});
    CHECK(file.notes.empty());
}

TEST_CASE("parse_scrape_configs: jobs and rules merge what an anchor names") {
    const std::string anchor = "scrape_configs:\n"
                               "- &base\n"
                               "  job_name: j\n"
                               "  scrape_interval: 7s\n"
                               "  relabel_configs:\n"
                               "  - &rule {target_label: a, replacement: x}\n"
                               "  - {<<: *rule, target_label: b}\n"
                               "- <<: *base\n"
                               "  job_name: k\n";
    const ScrapeConfigFile file = parse(anchor);
    REQUIRE(file.jobs.size() == 2);
    ScrapeConfig expected = file.jobs[0].scrape;
    REQUIRE(expected.relabel_configs.size() == 2);
    CHECK(expected.relabel_configs[1].target_label == "b");
    CHECK(expected.relabel_configs[1].replacement == "x");
    expected.job_name = "k";
    CHECK(file.jobs[1].scrape == expected);
    CHECK(file.jobs[1].scrape.scrape_interval == 7s);
    // Errors point to the key in the anchor.
    CHECK(problem(anchor + "  scrape_timeout: 6s\n- {<<: *base, job_name: l, scrape_timeout: 8s}\n")
              .starts_with("p.yml:11: scrape_configs[2].scrape_timeout: "));
    CHECK(problem("global: {<<: &x {}}\nscrape_configs:\n- job_name: j\n  relabel_configs:\n"
                  "  - <<: &r\n      replacement: x\n      regex: '('\n    target_label: t\n")
              .starts_with("p.yml:7: scrape_configs[0].relabel_configs[0].regex: "));
}

TEST_CASE("parse_scrape_configs: defaults are Prometheus'") {
    ScrapeConfig expected;
    expected.job_name = "j";
    expected.scrape_timeout = 10s;
    CHECK(only_job(job("")) == expected);
    CHECK(only_job(job("  scheme:\n  metrics_path: ''\n  scrape_interval: 0s\n")) == expected);
    CHECK(parse("").jobs.empty());
    CHECK(parse("scrape_configs:\n").jobs.empty());
}

TEST_CASE("parse_scrape_configs: what global says is the default of every job") {
    const std::string global =
        "global:\n  scrape_interval: 2m\n  scrape_timeout: 20s\n  keep_dropped_targets: 5\n"
        "  target_limit: 9\n  metric_name_validation_scheme: legacy\n"
        "  scrape_native_histograms: true\n";
    const ScrapeConfig inherited = only_job(global + job(""));
    CHECK(inherited.scrape_interval == 2min);
    CHECK(inherited.scrape_timeout == 20s);
    CHECK(inherited.keep_dropped_targets == 5);
    CHECK(inherited.target_limit == 9);
    CHECK(inherited.metric_name_validation_scheme == NameValidation::legacy);
    CHECK(inherited.scrape_native_histograms);
    const ScrapeConfig own =
        only_job(global + job("  scrape_interval: 1m\n  keep_dropped_targets: 3\n"
                              "  scrape_native_histograms: false\n"));
    CHECK(own.scrape_interval == 1min);
    CHECK(own.scrape_timeout == 20s);
    CHECK(own.keep_dropped_targets == 3);
    CHECK_FALSE(own.scrape_native_histograms);
}

TEST_CASE("parse_scrape_configs: a limit of 0 is the one of global") {
    const ScrapeConfig config = only_job("global: {keep_dropped_targets: 5, target_limit: 9}\n" +
                                         job("  keep_dropped_targets: 0\n  target_limit: 0\n"));
    CHECK(config.keep_dropped_targets == 5);
    CHECK(config.target_limit == 9);
}

TEST_CASE("parse_scrape_configs: a default timeout is cut to the interval") {
    CHECK(only_job(job("  scrape_interval: 5s\n")).scrape_timeout == 5s);
    CHECK(only_job("global:\n  scrape_interval: 3s\n" + job("")).scrape_timeout == 3s);
    CHECK(
        problem(job("  scrape_interval: 5s\n  scrape_timeout: 6s\n")) ==
        "p.yml:4: scrape_configs[0].scrape_timeout: must not be longer than scrape_interval (5s)");
    CHECK(problem("global:\n  scrape_timeout: 2m\n") ==
          "p.yml:2: global.scrape_timeout: must not be longer than scrape_interval (1m)");
}

TEST_CASE("parse_scrape_configs: bad input is reported by file, line, key and reason") {
    const std::pair<std::string, const char*> table[] = {
        {"scrape_config: []\n",
         "p.yml:1: scrape_config: unknown key (did you mean scrape_configs?); allowed are global, "
         "scrape_configs, scrape_config_files"},
        {job("  relable_configs: []\n"),
         "p.yml:3: scrape_configs[0].relable_configs: unknown key (did you mean relabel_configs?); "
         "allowed are job_name, scheme, metrics_path, params, relabel_configs, "
         "metric_relabel_configs, kubernetes_sd_configs, "
         "static_configs, file_sd_configs, http_sd_configs, scrape_interval, scrape_timeout, "
         "target_limit, keep_dropped_targets, metric_name_validation_scheme, "
         "convert_classic_histograms_to_nhcb, always_scrape_classic_histograms, "
         "scrape_native_histograms"},
        {"scrape_configs:\n- scheme: http\n", "p.yml:2: scrape_configs[0].job_name: is missing"},
        {"scrape_configs:\n- job_name: ''\n", "p.yml:2: scrape_configs[0].job_name: is missing"},
        {"scrape_configs:\n- job_name: a\n- job_name: a\n",
         "p.yml:3: scrape_configs[1].job_name: another job has this name"},
        {"scrape_configs:\n- null\n", "p.yml:2: scrape_configs[0]: an entry must not be empty"},
        {"scrape_configs: {}\n", "p.yml:1: scrape_configs: must be a list"},
        {"scrape_configs:\n- text\n",
         "p.yml:2: scrape_configs[0]: must be a mapping of keys to values"},
        {job("  scheme: ftp\n"), "p.yml:3: scrape_configs[0].scheme: must be http or https"},
        {job("  scrape_interval: 1x\n"),
         "p.yml:3: scrape_configs[0].scrape_interval: has an unknown unit; allowed are y, w, d, h, "
         "m, s, ms"},
        {job("  scrape_timeout: [1s]\n"),
         "p.yml:3: scrape_configs[0].scrape_timeout: must be a text"},
        {job("  target_limit: -1\n"), "p.yml:3: scrape_configs[0].target_limit: must be a whole "
                                      "number from 0 to 18446744073709551615"},
        {job("  target_limit: '1'\n"), "p.yml:3: scrape_configs[0].target_limit: must be a whole "
                                       "number from 0 to 18446744073709551615"},
        {job("  target_limit: 99999999999999999999\n"),
         "p.yml:3: scrape_configs[0].target_limit: must be a whole number from 0 to "
         "18446744073709551615"},
        {job("  scrape_native_histograms: maybe\n"),
         "p.yml:3: scrape_configs[0].scrape_native_histograms: must be true or false"},
        {job("  metric_name_validation_scheme: ascii\n"),
         "p.yml:3: scrape_configs[0].metric_name_validation_scheme: must be utf8 or legacy"},
        {job("  params: {a: b}\n"), "p.yml:3: scrape_configs[0].params.a: must be a list"},
        {job("  params: [a]\n"),
         "p.yml:3: scrape_configs[0].params: must be a mapping of keys to values"},
        {job("  kubernetes_sd_configs:\n  - role: pods\n"),
         "p.yml:4: scrape_configs[0].kubernetes_sd_configs[0].role: there is no such role (did "
         "you mean pod?); allowed are node, pod, service, endpoints, endpointslice, ingress, "
         "gateway, httproute, grpcroute, tlsroute"},
        {job("  kubernetes_sd_configs:\n  - role: pod\n  - ~\n"),
         "p.yml:5: scrape_configs[0].kubernetes_sd_configs[1]: an entry must not be empty"},
        {"global:\n  relabel_configs: []\n",
         "p.yml:2: global.relabel_configs: is vmagent's; Prometheus has it in scrape_configs only"},
        {"scrape_configs: [\n- a: b\n", "p.yml:2: YAML syntax: "},
    };
    for (const auto& [yaml, message] : table) {
        INFO(yaml);
        const std::string text = problem(yaml);
        if (std::string_view(message).ends_with(": ")) {
            CHECK(text.starts_with(message));
        } else {
            CHECK(text == message);
        }
    }
}

TEST_CASE("parse_scrape_configs: a bad rule is reported by its position in the file") {
    const auto starts = [](const std::string& lines, const std::string& where) {
        const std::string text = problem(job(lines));
        INFO(text);
        return text.starts_with("p.yml:" + where);
    };
    CHECK(starts("  relabel_configs:\n  - {action: keep}\n  - regex: '('\n    target_label: x\n",
                 "5: scrape_configs[0].relabel_configs[1].regex: "));
    CHECK(starts("  metric_relabel_configs:\n  - {action: kep}\n",
                 "4: scrape_configs[0].metric_relabel_configs[0].action: "));
}

TEST_CASE("parse_scrape_configs: from Prometheus 3.7 on, legacy names are those of rules, too") {
    const ScrapeConfigOptions v3_6{.prometheus_version = PrometheusVersion::v3_6};
    const ScrapeConfigOptions v3_7{.prometheus_version = PrometheusVersion::v3_7};
    for (const std::string key : {"relabel_configs", "metric_relabel_configs"}) {
        CAPTURE(key);
        const std::string rule = "  " + key + ": [{target_label: a-b, replacement: x}]\n";
        const std::string legacy = "  metric_name_validation_scheme: legacy\n";
        CHECK(problem(job(rule), v3_7) == "");
        CHECK(problem(job(rule + legacy), v3_6) == "");
        CHECK(problem(job(rule + legacy), v3_7)
                  .starts_with("p.yml:3: scrape_configs[0]." + key + "[0].target_label: "));
        const std::string global = "global: {metric_name_validation_scheme: legacy}\n";
        CHECK(problem(global + job(rule + "  metric_name_validation_scheme: utf8\n"), v3_7) == "");
        CHECK(problem(global + job(rule), v3_7)
                  .starts_with("p.yml:4: scrape_configs[0]." + key + "[0].target_label: "));
    }
}

TEST_CASE("ScrapeJobReader: a rule known from a job is read again for one with other names") {
    const auto rule = std::make_shared<const detail::RuleText>(
        boost::json::parse(R"({"target_label":"a-b","replacement":"x"})"));
    const auto entry = [&](const char* name, const char* scheme) {
        return detail::ScrapeEntry{.keys = {{"job_name", name},
                                            {"relabel_configs", nullptr},
                                            {"metric_name_validation_scheme", scheme}},
                                   .relabel_configs = {rule}};
    };
    detail::ScrapeJobReader reader({}, {.prometheus_version = PrometheusVersion::v3_7});
    CHECK(reader.read(entry("a", "utf8")).scrape.relabel_configs.size() == 1);
    CHECK_THROWS_AS(reader.read(entry("b", "legacy")), ScrapeConfigError);
    CHECK(reader.read(entry("c", "utf8")).scrape.relabel_configs.size() == 1);
}

TEST_CASE("ScrapeJobReader: jobs with credentials share discovery, and leave no secret behind") {
    constexpr std::string_view secret = "a-secret-of-one-job-only";
    constexpr std::string_view other = "and-the-secret-of-another-job";
    const auto read = [](detail::ScrapeJobReader& reader, std::string_view keys) {
        return reader.read({.keys = boost::json::parse(keys).as_object()});
    };
    detail::ScrapeJobReader reader({}, {});
    memory_search.wanted = {secret, other};
    memory_search.live.fill(nullptr);
    memory_search.on = true;
    {
        const std::string common =
            R"("scheme": "https", "kubernetes_sd_configs": [{"role": "pod",
               "namespaces": {"names": ["a"]}}], "enable_http2": false, )";
        const ScrapeJob a =
            read(reader, R"({"job_name": "a", )" + common +
                             R"("tls_config": {"server_name": "a"}, "bearer_token": ")" +
                             std::string(secret) + R"("})");
        const ScrapeJob b = read(reader, R"({"job_name": "b", )" + common +
                                             R"("params": {"token": [")" + std::string(other) +
                                             R"("]}, "basic_auth": {"username": "u",
                                                "password": ")" +
                                             std::string(other) + R"("}})");
        const ScrapeJob c = read(reader, R"({"job_name": "c", )" + common + R"("params": {}})");
        for (const ScrapeJob* const job : {&b, &c}) {
            CHECK(job->discovery.configs.pointer(0) == a.discovery.configs.pointer(0));
        }
        CHECK(a.client->auth.bearer_token == secret);
        CHECK(a.client->tls.server_name == "a");
        CHECK_FALSE(a.client->enable_http2);
        CHECK(b.scrape.job_name == "b");
        CHECK(b.discovery.name == "b");
        CHECK(b.client->auth.bearer_token.empty());
        CHECK(b.client->auth.password == other);
        CHECK_FALSE(b.client->enable_http2);
        CHECK(b.scrape.params.at("token").front() == other);
        CHECK(*c.client == ScrapeClient{.enable_http2 = false});
        CHECK(c.scrape.params.empty());
        CHECK(memory_search.in_live() > 0);
    }
    CHECK(memory_search.in_live() == 0);
    memory_search.on = false;
}

TEST_CASE("ScrapeJobReader: a mistake of the client is found in a job with known settings") {
    detail::ScrapeJobReader reader({}, {});
    const auto read = [&](const char* more) {
        return reader.read({.keys = boost::json::parse(R"({"job_name": "a", "scheme": "https")" +
                                                       std::string(more) + "}")
                                        .as_object()});
    };
    CHECK(read("").client->follow_redirects);
    CHECK_FALSE(read(R"(, "follow_redirects": false)").client->follow_redirects);
    CHECK_THROWS_AS(read(R"(, "bearer_token": "a", "bearer_token_file": "b")"), ScrapeConfigError);
    CHECK_THROWS_AS(read(R"(, "tls_config": {"unknown": 1})"), ScrapeConfigError);
    CHECK_THROWS_AS(read(R"(, "params": [])"), ScrapeConfigError);
    CHECK(read("").client->auth == AuthConfig());
}

TEST_CASE("parse_scrape_configs: jobs share equal discovery") {
    const ScrapeConfigFile file = parse(
        "scrape_configs:\n"
        "- {job_name: a, kubernetes_sd_configs: [{role: pod}, {role: node}]}\n"
        "- {job_name: b, kubernetes_sd_configs: [{role: service}, {role: pod}], scheme: https}\n");
    REQUIRE(file.jobs.size() == 2);
    const auto& a = file.jobs[0].discovery.configs;
    const auto& b = file.jobs[1].discovery.configs;
    CHECK(a.pointer(0) == b.pointer(1));
    CHECK(a[1].role == Role::node);
    CHECK(b[0].role == Role::service);
}

TEST_CASE("parse_scrape_configs: a job is read in its dialect") {
    const std::string yaml =
        job("  scrape_interval: 1.5m\n  kubernetes_sd_configs: [{role: endpointslices}]\n");
    const ScrapeConfigFile file = parse(yaml, {.dialect = LabelDialect::victoriametrics});
    REQUIRE(file.jobs.size() == 1);
    CHECK(file.jobs[0].scrape.dialect == LabelDialect::victoriametrics);
    CHECK(file.jobs[0].scrape.scrape_interval == 90s);
    CHECK(file.jobs[0].discovery.configs[0].dialect == LabelDialect::victoriametrics);
    CHECK_FALSE(problem(yaml).empty());

    const std::string long_timeout = job("  scrape_interval: 5s\n  scrape_timeout: 10s\n");
    const ScrapeConfig cut = only_job(long_timeout, {.dialect = LabelDialect::victoriametrics});
    CHECK(cut.scrape_timeout == 5s);
    CHECK_FALSE(problem(long_timeout).empty());
}

TEST_CASE("load_scrape_configs: paths are relative to the file, and a missing file is an error") {
    const TemporaryDirectory directory;
    const std::string path = directory.write(
        "conf/p.yml", job("  kubernetes_sd_configs: [{role: pod, kubeconfig_file: kube}]\n"));
    const ScrapeConfigFile file = load_scrape_configs(path);
    CHECK(file.jobs.at(0).discovery.configs.at(0).kubeconfig_file == directory.path("conf/kube"));
    const std::string missing = directory.path("missing.yml");
    CHECK(config_error([&] { load_scrape_configs(missing); }) ==
          missing + ": cannot be read: No such file or directory");
}

}  // namespace scrape_config_yaml_tests
