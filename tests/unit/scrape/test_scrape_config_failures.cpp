#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

using namespace k8s_sd;
using k8s_sd::test::contains;
using k8s_sd::test::TemporaryDirectory;

namespace {

/// Of CPU time; sanitizers take several times as long.
#if defined(K8S_SD_ADDRESS_SANITIZER)
constexpr std::clock_t cpu_second = 5 * CLOCKS_PER_SEC;
constexpr int many_keys = 11'000;
#else
constexpr std::clock_t cpu_second = CLOCKS_PER_SEC;
constexpr int many_keys = 100'000;
#endif

constexpr auto P = LabelDialect::prometheus;
constexpr auto V = LabelDialect::victoriametrics;
using Names = std::vector<std::string>;

ScrapeConfigFile parse(const std::string& yaml, const ScrapeConfigOptions& options = {}) {
    return parse_scrape_configs(yaml, options, "p.yml");
}

std::vector<ScrapeConfigFailure> refusal(const std::string& yaml,
                                         const ScrapeConfigOptions& options = {}) {
    try {
        parse(yaml, options);
    } catch (const ScrapeConfigError& e) {
        return e.failures();
    }
    return {};
}

Names names_of(const ScrapeConfigFile& file) {
    Names names;
    for (const ScrapeJob& job : file.jobs) names.push_back(job.scrape.job_name);
    return names;
}

Names places(const std::vector<ScrapeConfigFailure>& failures) {
    Names result;
    for (const ScrapeConfigFailure& failure : failures) result.push_back(failure.where);
    return result;
}

constexpr const char* three_jobs = R"yaml(scrape_configs:
- job_name: good
  kubernetes_sd_configs: [{role: pod}]
- job_name: bad
  relabel_configs: [{action: kep}]
- job_name: too
)yaml";

}  // namespace

TEST_CASE("Failures: a job that cannot be used is left out, the others run") {
    for (const LabelDialect dialect : {P, V}) {
        const ScrapeConfigFile file = parse(three_jobs, {.dialect = dialect});
        CHECK(names_of(file) == Names{"good", "too"});
        REQUIRE(file.failures.size() == 1);
        CHECK(file.failures[0].job == "bad");
        CHECK(file.failures[0].where == "p.yml:5: scrape_configs[1].relabel_configs[0].action");
        CHECK(file.failures[0].message.starts_with("there is no such action"));
    }
}

TEST_CASE("Failures: strict mode refuses the file, with all of them") {
    const std::string yaml = std::string(three_jobs) + "- job_name: more\n  scheme: ftp\n";
    const auto failures = refusal(yaml, {.strict = true});
    CHECK(places(failures) == Names{"p.yml:5: scrape_configs[1].relabel_configs[0].action",
                                    "p.yml:8: scrape_configs[3].scheme"});
    try {
        parse(yaml, {.strict = true});
    } catch (const ConfigError& e) {
        CHECK(e.where() == failures[0].where);
        CHECK(e.problem() == failures[0].message);
        CHECK(std::string(e.what()) == failures[0].where + ": " + failures[0].message + "\n" +
                                           failures[1].where + ": " + failures[1].message);
    }
}

TEST_CASE("Failures: all mistakes of a file are reported together") {
    const std::string yaml = R"yaml(scrape_configs:
- job_name: a
  scrape_interval: 1x
  metrics_path: [m]
  target_limit: many
  relable_configs: []
  honor_labels: perhaps
  sample_limit: many
  basic_auth: {username: u, username_file: f}
  relabel_configs:
  - {action: keep, regex: '('}
  - {action: drop}
  - {action: replace}
  kubernetes_sd_configs:
  - {role: pods, namespace: {}, selectors: [{role: pod, label: '(('}]}
  - {role: node}
  - {role: pod, attach_metadata: 1}
- job_name: b
  params: x
)yaml";
    const Names expected{"p.yml:6: scrape_configs[0].relable_configs",
                         "p.yml:7: scrape_configs[0].honor_labels",
                         "p.yml:8: scrape_configs[0].sample_limit",
                         "p.yml:5: scrape_configs[0].target_limit",
                         "p.yml:3: scrape_configs[0].scrape_interval",
                         "p.yml:4: scrape_configs[0].metrics_path",
                         "p.yml:9: scrape_configs[0].basic_auth.username_file",
                         "p.yml:11: scrape_configs[0].relabel_configs[0].regex",
                         "p.yml:13: scrape_configs[0].relabel_configs[2].target_label",
                         "p.yml:15: scrape_configs[0].kubernetes_sd_configs[0].namespace",
                         "p.yml:15: scrape_configs[0].kubernetes_sd_configs[0].role",
                         "p.yml:17: scrape_configs[0].kubernetes_sd_configs[2].attach_metadata",
                         "p.yml:19: scrape_configs[1].params"};
    const ScrapeConfigFile file = parse(yaml);
    CHECK(places(file.failures) == expected);
    CHECK(file.jobs.empty());
}

TEST_CASE("Failures: what is wrong with the file itself refuses it, with what is wrong with jobs") {
    const std::string yaml =
        "scrap_configs: []\nglobal:\n  scrape_interval: 1x\n  target_limit: a\n" +
        std::string(three_jobs);
    CHECK(places(refusal(yaml)) == Names{"p.yml:1: scrap_configs", "p.yml:4: global.target_limit",
                                         "p.yml:3: global.scrape_interval",
                                         "p.yml:9: scrape_configs[1].relabel_configs[0].action"});
    CHECK(places(refusal("a: [")) == Names{"p.yml:1"});
    CHECK(places(refusal("scrape_configs: x")) == Names{"p.yml:1: scrape_configs"});
    CHECK(places(refusal("- a")) == Names{"p.yml:1"});
    CHECK(refusal("- a").at(0).job.empty());
}

TEST_CASE("Failures: of two jobs with one name the second is left out") {
    const ScrapeConfigFile file = parse(
        "scrape_configs:\n- job_name: a\n- {job_name: a, scheme: ftp}\n- job_name: b\n- {}\n");
    CHECK(names_of(file) == Names{"a", "b"});
    CHECK(places(file.failures) ==
          Names{"p.yml:3: scrape_configs[1].job_name", "p.yml:5: scrape_configs[3].job_name"});
}

TEST_CASE("Failures: contradictory credentials of one job leave the others alone") {
    const ScrapeConfigFile file = parse(R"yaml(scrape_configs:
- job_name: a
  kubernetes_sd_configs:
  - {role: pod, api_server: "http://h", basic_auth: {username: u}, bearer_token: t}
- job_name: b
  bearer_token: t
  basic_auth: {username: u}
- job_name: c
)yaml",
                                        {.dialect = V});
    CHECK(names_of(file) == Names{"c"});
    CHECK(places(file.failures) ==
          Names{"p.yml:4: scrape_configs[0].kubernetes_sd_configs[0].basic_auth",
                "p.yml:7: scrape_configs[1].basic_auth"});
}

TEST_CASE("Failures: vmagent ignores credentials in a pod, and with a kubeconfig") {
    const std::string entry = "role: pod, authorization: {credentials: t}, tls_config: {ca: x}";
    for (const std::string& more : {std::string(), std::string(", kubeconfig_file: kube")}) {
        const std::string yaml =
            "scrape_configs: [{job_name: j, kubernetes_sd_configs: [{" + entry + more + "}]}]";
        const ScrapeConfigFile file = parse(yaml, {.dialect = V});
        REQUIRE(names_of(file) == Names{"j"});
        CHECK(file.jobs[0].discovery.configs.at(0).api_server == ApiServerConfig{});
        CHECK(parse(yaml).failures.size() == 1);
    }
}

TEST_CASE("Failures: very many mistakes are counted, not all reported") {
    std::string yaml = "scrape_configs:\n";
    for (int i = 0; i < 11'000; ++i) {
        yaml += "- {job_name: j" + std::to_string(i) + ", scheme: ftp}\n";
    }
    const ScrapeConfigFile file = parse(yaml);
    REQUIRE(file.failures.size() == 10'001);
    CHECK(file.failures.back() == ScrapeConfigFailure{"", "p.yml", "there are 1000 more mistakes"});
    std::string one = "scrape_configs:\n- job_name: j\n  relabel_configs:\n";
    for (int i = 0; i < 500; ++i) one += "  - {action: kep}\n";
    CHECK(parse(one).failures.size() == 101);
}

TEST_CASE("Failures: a text that is too large is refused") {
    const auto failures = refusal("scrape_configs: []\n", {.max_bytes = 10});
    CHECK(places(failures) == Names{"p.yml"});
    const TemporaryDirectory directory;
    const std::string path = directory.write("p.yml", std::string(2'000, '#'));
    try {
        load_scrape_configs(path, {.max_bytes = 1'000});
        FAIL();
    } catch (const ScrapeConfigError& e) {
        CHECK(e.what() == path + ": is larger than 1000 bytes");
    }
}

TEST_CASE("Failures: anchors that stand for very much end in an error at once") {
    std::string yaml = "x: &r {source_labels: &l [" + std::string(2'000, 'a');
    for (int i = 0; i < 1'000; ++i) yaml += ", a";
    yaml += "], target_label: t}\ny: &rules [";
    for (int i = 0; i < 1'000; ++i) yaml += "*r, ";
    yaml += "]\nscrape_configs:\n";
    for (int i = 0; i < 1'000; ++i) {
        yaml += "- {job_name: j" + std::to_string(i) + ", relabel_configs: *rules}\n";
    }
    const std::clock_t begin = std::clock();
    const auto failures = refusal(yaml);
    CHECK(std::clock() - begin < 20 * cpu_second);
    REQUIRE_FALSE(failures.empty());
    CHECK(failures.front().message == "anchors expand to too much");
}

TEST_CASE("Failures: a misspelt key is a mistake however many unknown ones stand before it") {
    std::string yaml = "scrape_configs:\n";
    for (int i = 0; i < 2'000; ++i) {
        yaml += "- {job_name: j" + std::to_string(i) + ", dns_sd_configs: [], of_the_future: 1}\n";
    }
    for (int i = 0; i < 2'000; ++i) {
        yaml +=
            "- {job_name: k" + std::to_string(i) + ", x" + std::to_string(i) + "_sd_configs: []}\n";
    }
    const ScrapeConfigFile file = parse(yaml + "- {job_name: bad, relable_configs: []}\n");
    REQUIRE(file.failures.size() == 1);
    CHECK(file.failures[0].job == "bad");
    CHECK(contains(file.failures[0].message, "did you mean relabel_configs?"));
    CHECK(file.jobs.size() == 4'000);
}

TEST_CASE("Failures: what global says is not copied into more jobs than memory bears") {
    const std::string text((1 << 20) - 100, 'x');
    const std::string rule = "[{target_label: a, replacement: " + text + "}]";
    std::string jobs = "\nscrape_configs:\n";
    for (int i = 0; i < 100; ++i) jobs += "- {job_name: j" + std::to_string(i) + "}\n";
    const ScrapeConfigOptions options{.dialect = V, .max_bytes = 2 << 20};
    for (const std::string& global :
         {"{scrape_failure_log_file: " + text + "}", "{relabel_configs: " + rule + "}"}) {
        const ScrapeConfigFile file = parse("global: " + global + jobs, options);
        CHECK(file.jobs.size() > 60);
        CHECK(file.jobs.size() < 70);
        REQUIRE(file.failures.size() == 100 - file.jobs.size());
        CHECK(file.failures[0].message == "global is too large for so many jobs");
    }
}

TEST_CASE("Failures: hostile files end within seconds") {
    std::string unknown = "scrape_configs:\n- job_name: j\n";
    for (int i = 0; i < many_keys; ++i) unknown += "  honour_label" + std::to_string(i) + ": 1\n";
    std::string values = "x: [";
    for (int i = 0; i < 2'100'000; ++i) values += "a,";
    const std::clock_t begin = std::clock();
    CHECK(parse(unknown).notes.size() == 10'000);
    CHECK(refusal(unknown, {.strict = true}).size() == 101);
    std::string misspelt = "scrape_configs:\n";
    for (int i = 0; i < many_keys; ++i) {
        misspelt += "- {job_name: j" + std::to_string(i) + ", relable_configs: []}\n";
    }
    CHECK(parse(misspelt).jobs.empty());
    const auto failures = refusal(values + "]");
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].message == "the document has too many values");
    CHECK(std::clock() - begin < 60 * cpu_second);
}

TEST_CASE("Files: Prometheus' are mappings; patterns may match nothing") {
    const TemporaryDirectory directory;
    directory.write("d/a.yml",
                    "scrape_configs:\n- job_name: a\n  kubernetes_sd_configs: [{role: pod, "
                    "kubeconfig_file: kube}]\n");
    directory.write("d/b.yml", "scrape_configs:\n- job_name: b\n- job_name: main\n");
    const std::string path = directory.write(
        "p.yml", "global: {scrape_interval: 7s}\nscrape_config_files: [d/*.yml, e/*.yml, f.yml]\n"
                 "scrape_configs: [{job_name: main}]\n");
    const ScrapeConfigFile file = load_scrape_configs(path);
    CHECK(names_of(file) == Names{"main", "a", "b"});
    CHECK(file.jobs[1].scrape.scrape_interval == std::chrono::seconds(7));
    CHECK(file.jobs[1].discovery.configs.at(0).kubeconfig_file == directory.path("d/kube"));
    CHECK(places(file.failures) ==
          Names{directory.path("d/b.yml") + ":3: scrape_configs[1].job_name"});
}

TEST_CASE("Files: vmagent's are lists; one that cannot be used is left out") {
    const TemporaryDirectory directory;
    directory.write("d/a.yml", "- job_name: a\n  metrics_path: /%{P}\n  bearer_token_file: token\n"
                               "  kubernetes_sd_configs: [{role: pod, kubeconfig_file: kube}]\n"
                               "  file_sd_configs: [{files: [t.json]}]\n");
    directory.write("d/b.yml", "scrape_configs: []\n");
    directory.write("d/c.yml", "- [\n");
    const std::string path = directory.write(
        "p.yml", "scrape_config_files:\n- d/*.yml\n- missing.yml\n- http://h/jobs.yml\n- ''\n"
                 "scrape_configs: [{job_name: main}]\n");
    const ScrapeConfigOptions options{.dialect = V,
                                      .variables = [](auto) { return std::string("x"); }};
    const ScrapeConfigFile file = load_scrape_configs(path, options);
    CHECK(names_of(file) == Names{"main", "a"});
    CHECK(file.jobs[1].scrape.metrics_path == "/x");
    // vmagent resolves paths in the directory of the main file only.
    const Job& job = file.jobs[1].discovery;
    CHECK(job.configs.at(0).kubeconfig_file == directory.path("kube"));
    CHECK(job.file_sd_configs.at(0).files == Names{directory.path("t.json")});
    CHECK(job.file_sd_configs.at(0).directory == directory.path());
    CHECK(file.jobs[1].client->auth.bearer_token_file == directory.path("token"));
    CHECK(places(file.failures) ==
          Names{directory.path("d/b.yml") + ":1", directory.path("d/c.yml") + ":2",
                path + ":3: scrape_config_files[1]", path + ":4: scrape_config_files[2]",
                path + ":5: scrape_config_files[3]"});
    for (const ScrapeConfigFailure& failure : file.failures) CHECK(failure.job.empty());
    ScrapeConfigOptions strict = options;
    strict.strict = true;
    CHECK_THROWS_AS(load_scrape_configs(path, strict), ScrapeConfigError);
}

TEST_CASE(
    "Files: a directory that cannot be looked into is a failure, and so is a pattern without end") {
    const TemporaryDirectory directory;
    directory.write("a.yml", "[]");
    std::filesystem::create_symlink("loop", directory.path("loop"));
    const std::string path =
        directory.write("p.yml", "scrape_config_files: [loop/*.yml, 'conf[.yml', loop/a*/b.yml]\n"
                                 "scrape_configs: [{job_name: main}]\n");
    for (const LabelDialect dialect : {P, V}) {
        const ScrapeConfigFile file = load_scrape_configs(path, {.dialect = dialect});
        CHECK(names_of(file) == Names{"main"});
        REQUIRE(file.failures.size() == 3);
        CHECK(file.failures[0].where == path + ":1: scrape_config_files[0]");
        CHECK(contains(file.failures[0].message, "cannot look into"));
        CHECK(contains(file.failures[1].message, dialect == P ? "is no pattern" : "cannot read"));
        CHECK(contains(file.failures[2].message, "cannot look into"));
    }
    directory.write("p.yml", "scrape_config_files: [loop/b.yml]\n");
    CHECK(load_scrape_configs(path).failures.size() == 1);
}

TEST_CASE("Files: the permitted number of files is read, and more are reported") {
    const TemporaryDirectory directory;
    for (int i = 0; i < 999; ++i)
        directory.write("d/" + std::to_string(i) + ".yml", "scrape_configs: []");
    const std::string path = directory.write(
        "p.yml", "scrape_config_files: [d/*.yml, e/*.yml]\nscrape_configs: [{job_name: main}]\n");
    CHECK(load_scrape_configs(path).failures.empty());
    directory.write("e/1.yml", "scrape_configs: []");
    const ScrapeConfigFile file = load_scrape_configs(path);
    CHECK(names_of(file) == Names{"main"});
    REQUIRE(file.failures.size() == 1);
    CHECK(file.failures[0].message == "the configuration has more than 1000 files");
}
