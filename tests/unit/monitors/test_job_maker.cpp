#include "k8s_sd/detail/monitors/job_maker.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/error.hpp"
#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

namespace {

using detail::JobMaker;

detail::GeneratedJob generated_job(const std::string& name, const std::string& keys) {
    detail::GeneratedJob job{.origin = name};
    job.config.keys = json_of(keys).as_object();
    job.config.keys["job_name"] = name;
    return job;
}

/// A maker with an owner.
struct Maker {
    explicit Maker(const MonitorSourceConfig& c = {}) : config(c), maker(config) {
        maker.set_owner(MonitorOwner());
    }
    JobMaker::Made make(const std::string& name, const std::string& keys,
                        const std::vector<JobMaker::Made>& before = {}) {
        return maker.make("an object", generated_job(name, keys), before, patterns);
    }

    const MonitorSourceConfig config;
    JobMaker maker;
    detail::PatternBudget patterns{RelabelLimits()};
};

const SharedList<DiscoveryConfig>& discoveries_of(const JobMaker::Made& made) {
    return made.job->job->discovery.configs;
}

}  // namespace

TEST_CASE("JobMaker: a job has its name, its object and the configured server") {
    MonitorSourceConfig config;
    config.api_server.url = "https://a:6443";
    config.cluster.name = "east";
    Maker maker(config);
    const JobMaker::Made made =
        maker.make("j", "{'kubernetes_sd_configs': [{'role': 'pod'}], 'scrape_interval': '7s'}");
    CHECK(made.job->origin == "j");
    CHECK(made.job->object == "an object");
    CHECK(made.job->job->scrape.scrape_interval == std::chrono::seconds(7));
    REQUIRE(discoveries_of(made).size() == 1);
    CHECK(discoveries_of(made)[0].api_server.url == "https://a:6443");
    CHECK(discoveries_of(made)[0].cluster.name == "east");
    CHECK(made.bytes == 0);
}

TEST_CASE("JobMaker: an equal job is the previous one") {
    Maker maker;
    const std::vector<JobMaker::Made> before{maker.make("i", "{'scrape_interval': '7s'}"),
                                             maker.make("j", "{'scrape_interval': '7s'}")};
    CHECK(maker.make("j", "{'scrape_interval': '7s'}", before).job == before[1].job);
    const JobMaker::Made other = maker.make("j", "{'scrape_interval': '8s'}", before);
    CHECK(other.job != before[1].job);
    CHECK(other.job->job->scrape.scrape_interval == std::chrono::seconds(8));
}

TEST_CASE("JobMaker: jobs share the rules, and each has those of its own") {
    Maker maker;
    const std::string rules = R"({'relabel_configs': [
        {'source_labels': ['a'], 'target_label': 'b'},
        {'source_labels': ['a'], 'regex': '%', 'action': 'keep'}]})";
    const auto with = [&](const std::string& regex) {
        std::string text = rules;
        return text.replace(text.find('%'), 1, regex);
    };
    const JobMaker::Made a = maker.make("a", with("x"));
    const JobMaker::Made b = maker.make("b", with("y"));
    const RelabelRules& of_a = a.job->job->scrape.relabel_configs;
    const RelabelRules& of_b = b.job->job->scrape.relabel_configs;
    REQUIRE(of_a.size() == 2);
    REQUIRE(of_b.size() == 2);
    CHECK(of_a.pointer(0) == of_b.pointer(0));
    CHECK(of_a[1].regex == "x");
    CHECK(of_b[1].regex == "y");
    CHECK(a.rules.size() == 2);
    CHECK(b.rules.size() == 1);
    CHECK(a.bytes > 0);
}

TEST_CASE("JobMaker: a rule that pools would refuse is named by its place") {
    Maker maker;
    try {
        (void)maker.make("j", R"({'relabel_configs': [
            {'source_labels': ['a'], 'target_label': 'b'}, {'action': 'keep', 'regex': '('}]})");
        FAIL("it is made");
    } catch (const ConfigError& e) {
        CHECK(e.where().find("relabel_configs[1]") != std::string::npos);
    }
}

TEST_CASE("JobMaker: files with credentials can be denied") {
    MonitorSourceConfig config;
    config.deny_file_access = true;
    Maker maker(config);
    for (const char* const keys :
         {"{'bearer_token_file': '/f'}", "{'basic_auth': {'username': 'u', 'password_file': '/f'}}",
          "{'basic_auth': {'username_file': '/f', 'password': 'p'}}",
          "{'authorization': {'credentials_file': '/f'}}", "{'tls_config': {'ca_file': '/f'}}",
          "{'oauth2': {'client_id': 'i', 'token_url': 'http://a', 'client_secret_file': '/f'}}",
          "{'oauth2': {'client_id': 'i', 'token_url': 'http://a', 'client_secret': 's', "
          "'tls_config': {'ca_file': '/f'}}}",
          "{'http_headers': {'X': {'files': ['/f']}}}", "{'proxy_bearer_token_file': '/f'}",
          "{'proxy_basic_auth': {'username': 'u', 'password_file': '/f'}}",
          "{'proxy_tls_config': {'cert_file': '/f', 'key_file': '/f'}}"}) {
        CAPTURE(keys);
        CHECK_THROWS_AS(maker.make("j", keys), ConfigError);
    }
    CHECK_NOTHROW(maker.make("j", "{'authorization': {'credentials': 'token'}, "
                                  "'proxy_basic_auth': {'username': 'u', 'password_file': ''}}"));
}

TEST_CASE("JobMaker: jobs share an equal discovery, also one with a server of its own") {
    Maker maker;
    const auto with = [&](const std::string& name, const std::string& more) {
        return maker.make(name, "{'kubernetes_sd_configs': [{'role': 'pod'" + more + "}]}");
    };
    for (const char* const server :
         {"", ", 'api_server': 'https://b', 'authorization': {'credentials': 't'}"}) {
        const std::string more = server;
        const JobMaker::Made a = with("a", more);
        const JobMaker::Made b = with("b", more);
        const JobMaker::Made other = with("c", more + ", 'namespaces': {'names': ['x']}");
        CHECK(discoveries_of(a).pointer(0) == discoveries_of(b).pointer(0));
        CHECK(discoveries_of(a).pointer(0) != discoveries_of(other).pointer(0));
    }
    const JobMaker::Made a = with("a", ", 'api_server': 'https://b', 'bearer_token': 's'");
    const JobMaker::Made b = with("b", ", 'api_server': 'https://b', 'bearer_token': 't'");
    CHECK(discoveries_of(a)[0] != discoveries_of(b)[0]);
}

TEST_CASE("JobMaker: credentials of a server go with the last job that has them") {
    Maker maker;
    const std::string keys =
        "{'kubernetes_sd_configs': [{'role': 'pod', 'api_server': 'https://b', "
        "'bearer_token': 's'}]}";
    std::weak_ptr<const DiscoveryConfig> made;
    {
        const JobMaker::Made job = maker.make("a", keys);
        made = discoveries_of(job).pointer(0);
        CHECK_FALSE(made.expired());
    }
    CHECK(made.expired());
    CHECK(discoveries_of(maker.make("a", keys)).size() == 1);
}

TEST_CASE("JobMaker: an unusable owner leaves the previous one") {
    Maker maker;
    MonitorOwner owner;
    owner.scrape_interval = "no duration";
    CHECK_THROWS_AS(maker.maker.set_owner(owner), ConfigError);
    CHECK(maker.make("j", "{'scrape_interval': '7s'}").job->origin == "j");
}

}  // namespace k8s_sd::test
