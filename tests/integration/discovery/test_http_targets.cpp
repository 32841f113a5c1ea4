#include "k8s_sd/metrics.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/dialects.hpp"
#include "support/job_host.hpp"
#include "support/simulation.hpp"
#include "support/text_server.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace http_targets_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

std::string http(int status, const std::string& body,
                 const std::string& type = "application/json") {
    return TextServer::http(status, body, type);
}
std::string listed(const std::string& target) {
    return http(200, R"([{"targets":[")" + target + R"("],"labels":{"x":"1"}}])");
}

struct ListServer {
    std::shared_ptr<TextServer> lists = std::make_shared<TextServer>();
};

/// A job "a" with a URL list; the test sets its responses.
struct ListJobs : ListServer, Simulation {
    ListJobs() : Simulation({}, {}, {}, [this](const auto&) { return lists; }) { host.run(); }

    static HttpSdConfig config(const std::string& url = "http://lists.example:8080/t?x=1") {
        HttpSdConfig config;
        config.url = url;
        return config;
    }
    void apply(const std::vector<HttpSdConfig>& configs) {
        Job job{"a", {}};
        job.http_sd_configs = configs;
        failures = host.manager->apply_config({job});
        settle();
    }
    /// The diff after another response.
    std::string next(const std::string& answer) {
        lists->answers = {answer};
        advance(60s);
        return host.take_diffs();
    }
    DiscovererStatus state() { return host.manager->status().at(0).configs.at(0).status; }

    std::vector<ConfigFailure> failures;
    JobHost host{context.get_executor()};
};

}  // namespace

TEST_CASE("http_sd: the list of a URL is the targets of a job, and is asked for again") {
    ListJobs l;
    l.lists->answers = {listed("x:1")};
    l.apply({ListJobs::config()});
    CHECK(l.host.take_diffs() == "a(full): 1(full)[~t:0]");
    CHECK(l.host.state("a")[0].second ==
          std::vector<LabelMap>{{{"__address__", "x:1"},
                                 {"__meta_url", "http://lists.example:8080/t?x=1"},
                                 {"x", "1"}}});
    CHECK(l.host.manager->status()[0].configs[0].origin == TargetOrigin::url);
    CHECK(l.next(listed("x:1")) == "");
    CHECK(l.next(listed("y:1")) == "a: 1[~t:0]");
    CHECK(l.next(http(200, "[]")) == "a: 1[-t:0]");
    CHECK(l.host.problems() == "");
}

TEST_CASE("http_sd: requests are what the programs send, with their own name") {
    ListJobs l;
    l.lists->answers = {listed("x:1")};
    HttpSdConfig config = ListJobs::config();
    config.headers = {{"X-Team", "shop", {}}};
    config.interval = 90s;
    l.apply({config});
    REQUIRE(l.lists->requests.size() == 1);
    const std::string& request = l.lists->requests[0];
    CHECK(request.starts_with("GET /t?x=1 HTTP/1.1\r\nHost: lists.example:8080\r\n"));
    CHECK(contains(request, "\r\nAccept: application/json\r\n"));
    CHECK(contains(request, "\r\nUser-Agent: k8s_sd/"));
    CHECK(contains(request, "\r\nX-Prometheus-Refresh-Interval-Seconds: 90\r\n"));
    CHECK(contains(request, "\r\nX-Team: shop\r\n"));
    CHECK_FALSE(contains(request, "Authorization"));
}

TEST_CASE("http_sd: requests come in the interval, up to a tenth earlier") {
    ListJobs l;
    l.lists->answers = {listed("x:1")};
    l.apply({ListJobs::config()});
    l.advance(1h);
    CHECK(l.lists->requests.size() >= 61);
    CHECK(l.lists->requests.size() <= 67);
    CHECK(l.metrics->target_list_requests == l.lists->requests.size());
}

TEST_CASE(
    "http_sd: any failure keeps the targets, and is reported with the URL without its query") {
    const std::pair<std::string, errc> table[] = {
        {http(503, "busy", "text/plain"), errc::server_error},
        {http(404, "", "text/plain"), errc::not_found},
        {http(404, R"({"message": "busy"})", "application/json"), errc::not_found},
        {http(403, "", "text/plain"), errc::forbidden},
        {http(401, "", "text/plain"), errc::unauthorized},
        {http(429, "", "text/plain"), errc::too_many_requests},
        {http(302, ""), errc::unexpected_status},
        {http(204, ""), errc::unexpected_status},
        {http(200, "[]", "text/plain"), errc::unexpected_content_type},
        {http(200, "[]", "application/json; charset=latin1"), errc::unexpected_content_type},
        {http(200, "[]", "application/json;"), errc::unexpected_content_type},
        {http(200, "[]", "application/json ; charset=utf-8"), errc::unexpected_content_type},
        {http(200, "[]", "application/json; charset=utf-8;"), errc::unexpected_content_type},
        {http(200, "[]", "application/json; charset=\"utf-8"), errc::unexpected_content_type},
        {http(200, "{}"), errc::malformed_response},
        {http(200, "[null]"), errc::malformed_response},
        {http(200, ""), errc::malformed_response},
        {http(200, R"([{"targets":["a"],"weight":1}])"), errc::malformed_response}};
    for (const auto& [answer, error] : table) {
        CAPTURE(answer);
        ListJobs l;
        l.lists->answers = {listed("x:1")};
        l.apply({ListJobs::config()});
        l.host.take_diffs();
        CHECK(l.next(answer) == "");
        CHECK(l.state().error == error);
        CHECK(l.state().message.starts_with("http://lists.example:8080/t: "));
        CHECK(l.metrics->target_list_failures > 0);
        CHECK(l.host.sources("a") == "t:0");
        CHECK(l.next(listed("x:1")) == "");
        CHECK_FALSE(l.state().error);
    }
}

TEST_CASE("http_sd: the error of a service is reported in its words") {
    ListJobs l;
    l.lists->answers = {http(403, R"({"title": "Forbidden", "detail": "no list for you"})",
                             "application/problem+json")};
    l.apply({ListJobs::config()});
    CHECK(l.state().message == "http://lists.example:8080/t: HTTP 403: Forbidden: no list for you");
}

TEST_CASE("http_sd: types that Prometheus takes") {
    for (const char* type :
         {"application/json", "Application/JSON; charset=utf-8",
          "application/json;charset=\"UTF-8\"", "application/json;  charset=utf-8"}) {
        CAPTURE(type);
        ListJobs l;
        l.lists->answers = {http(200, "[]", type)};
        l.apply({ListJobs::config()});
        CHECK(l.host.take_diffs() == "a(full): 1(full)[]");
    }
}

TEST_CASE("http_sd: vmagent takes any type, unknown keys and null groups") {
    ListJobs l;
    HttpSdConfig config = ListJobs::config();
    config.dialect = vm;
    l.lists->answers = {
        http(200, R"([null,{"targets":["a"],"labels":{"":"x"},"weight":1}])", "text/html")};
    l.apply({config});
    CHECK(l.host.take_diffs() == "a(full): 1(full)[~t:1]");
}

TEST_CASE("http_sd: an answer that is too large is refused before it is all read") {
    ListJobs l;
    HttpSdConfig config = ListJobs::config();
    config.max_bytes = 100;
    l.lists->answers = {http(200, "[" + std::string(1'000'000, ' ') + "]")};
    l.apply({config});
    CHECK(l.state().error == errc::target_list_too_large);
    config.max_bytes = 1000;
    config.max_targets = 1;
    l.lists->answers = {http(200, R"([{"targets":["a","b"]}])")};
    l.apply({config});
    CHECK(contains(l.state().message, "has more than 1 targets"));
}

TEST_CASE("http_sd: a missing answer is reported after the interval, and requested again") {
    ListJobs l;
    l.lists->answers = {""};
    l.apply({ListJobs::config()});
    l.advance(59s);
    CHECK_FALSE(l.state().error);
    l.advance(1s);
    CHECK(l.state().error == errc::response_timeout);
    l.lists->answers = {listed("x:1")};
    l.advance(2s);
    CHECK(l.host.take_diffs() == "a(full): 1(full)[~t:0]");
}

TEST_CASE("http_sd: a list that fails at first is asked for sooner, and no more than so often") {
    ListJobs l;
    l.lists->answers = {http(503, "")};
    l.apply({ListJobs::config()});
    l.advance(10s);
    CHECK(l.lists->requests.size() == 3);
    l.advance(1h);
    CHECK(l.lists->requests.size() < 75);
    SECTION("also where the interval is tiny") {
        HttpSdConfig config = ListJobs::config();
        config.interval = 1ms;
        l.lists->requests.clear();
        l.apply({config});
        l.advance(60s);
        CHECK(l.lists->requests.size() <= 61);
    }
}

TEST_CASE("http_sd: the server's Retry-After is kept, up to ten minutes") {
    ListJobs l;
    l.lists->answers = {"HTTP/1.1 429 x\r\nRetry-After: 300\r\nContent-Length: 0\r\n\r\n",
                        listed("x:1")};
    l.apply({ListJobs::config()});
    l.advance(4min);
    CHECK(l.lists->requests.size() == 1);
    l.advance(1min);
    CHECK(l.lists->requests.size() == 2);
    l.lists->answers = {"HTTP/1.1 503 x\r\nRetry-After: 9999999\r\nContent-Length: 0\r\n\r\n"};
    l.advance(70s);
    const std::size_t asked = l.lists->requests.size();
    l.advance(11min);
    CHECK(l.lists->requests.size() > asked);
}

TEST_CASE("http_sd: redirects on the same server are followed, with an end") {
    const auto redirect = [](const std::string& location) {
        return "HTTP/1.1 302 x\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n";
    };
    ListJobs l;
    HttpSdConfig config = ListJobs::config("http://lists.example/t");
    config.auth.bearer_token = "hunter2";
    SECTION("to another path, or a URL of this server") {
        l.lists->answers = {redirect("/t/"), redirect("http://LISTS.example:80/u?x=1"),
                            listed("x:1")};
        l.apply({config});
        CHECK(l.host.take_diffs() == "a(full): 1(full)[~t:0]");
        REQUIRE(l.lists->requests.size() == 3);
        CHECK(l.lists->requests[1].starts_with("GET /t/ HTTP"));
        CHECK(l.lists->requests[2].starts_with("GET /u?x=1 HTTP"));
        l.advance(60s);
        CHECK(l.lists->requests[3].starts_with("GET /t HTTP"));
    }
    SECTION("relative to the present path") {
        const std::pair<const char*, const char*> steps[] = {{"a/b/c", "/a/b/c"},
                                                             {"../d?x=/1#y", "/a/d?x=/1"},
                                                             {"?y=2", "/a/d?y=2"},
                                                             {"./../../e/.", "/e/"},
                                                             {"//lists.example/f/../g", "/f/../g"}};
        l.lists->answers.clear();
        for (const auto& [location, path] : steps) l.lists->answers.push_back(redirect(location));
        l.lists->answers.push_back(listed("x:1"));
        l.apply({config});
        REQUIRE(l.lists->requests.size() == 6);
        for (std::size_t i = 0; i < 5; ++i) {
            CHECK(l.lists->requests[i + 1].starts_with("GET " + std::string(steps[i].second) +
                                                       " HTTP"));
        }
    }
    SECTION("again and again") {
        l.lists->answers = {redirect("/t")};
        l.apply({config});
        CHECK(l.lists->requests.size() == 11);
        CHECK(contains(l.state().message, "HTTP 302, too many redirects"));
    }
    SECTION("to others, which are not to get the credentials") {
        for (const char* location : {"http://other.example/t", "https://lists.example/t", "//a/t",
                                     "", "javascript:x", "lists.example:80/t"}) {
            l.lists->answers = {redirect(location)};
            l.lists->requests.clear();
            l.apply({config});
            CHECK(l.lists->requests.size() <= 1);
            CHECK(contains(l.state().message, "a redirect, which is not followed"));
            l.apply({});
        }
        CHECK(l.lists->targets.back().host == "lists.example");
    }
    SECTION("or not, where that is configured") {
        config.follow_redirects = false;
        l.lists->answers = {redirect("/t/")};
        l.apply({config});
        CHECK(l.lists->requests.size() == 1);
        CHECK(l.state().error == errc::unexpected_status);
    }
    SECTION("all within the interval") {
        l.lists->answers = {redirect("/t/"), ""};
        l.apply({config});
        l.advance(60s);
        CHECK(l.state().error == errc::response_timeout);
    }
}

TEST_CASE("http_sd: a long list is parsed in a thread that delays no removal of the source") {
    ListJobs l;
    l.files->hold();
    l.lists->answers = {listed("x:1")};
    l.apply({ListJobs::config()});
    CHECK(l.host.take_diffs() == "");
    l.files->release();
    l.settle();
    CHECK(l.host.take_diffs() == "a(full): 1(full)[~t:0]");
    l.files->hold();
    l.lists->answers = {listed("y:1")};
    l.advance(60s);
    l.apply({});
    l.settle();
    l.files->release();
    l.settle();
    CHECK(l.metrics->providers == 0);
    CHECK(l.clock->next_expiry() == TimePoint::max());
}

TEST_CASE("http_sd: credentials are sent, read again after a 401, and appear nowhere") {
    ListJobs l;
    TemporaryDirectory directory;
    HttpSdConfig config = ListJobs::config();
    config.auth.bearer_token_file = directory.write("token", "hunter1");
    l.lists->answers = {listed("x:1")};
    l.apply({config});
    CHECK(contains(l.lists->requests.at(0), "\r\nAuthorization: Bearer hunter1\r\n"));
    directory.write("token", "hunter2");
    l.lists->answers = {http(401, "not hunter1", "text/plain"), listed("y:1")};
    l.host.take_diffs();
    l.advance(50s);
    l.advance(10s);
    CHECK(l.host.take_diffs() == "a: 1[~t:0]");
    CHECK(contains(l.lists->requests.back(), "Bearer hunter2"));
    l.lists->answers = {http(401, "not hunter2, nor hunter1", "text/plain")};
    l.advance(2min);
    CHECK(l.state().error == errc::unauthorized);
    CHECK_FALSE(contains(l.state().message, "hunter"));
}

TEST_CASE("http_sd: ever new credentials that are refused do not make it ask without pause") {
    struct NewTokens final : TokenSource {
        void async_get_token(bool, Handler handler) override {
            handler({}, {}, {.value = "t" + std::to_string(++made)});
        }
        int made = 0;
    };
    ListJobs l;
    HttpSdConfig config = ListJobs::config();
    config.auth.token_source = std::make_shared<NewTokens>();
    l.lists->answers = {http(401, "")};
    l.apply({config});
    CHECK(l.lists->requests.size() <= 2);
    l.advance(60s);
    CHECK(l.lists->requests.size() <= 14);
    CHECK(l.state().error == errc::unauthorized);
}

TEST_CASE("http_sd: secrets of the query are in the label and in no message") {
    const auto redirect =
        "HTTP/1.1 302 x\r\nLocation: /u?token=hunter2\r\nContent-Length: 0\r\n\r\n";
    const std::vector<std::string> table[] = {
        {http(500, "")},
        {http(404, "no such page: /t?token=hunter22", "text/plain")},
        {http(404, "no page for hunter22", "text/plain")},
        {http(200, R"([{"hunter22":1}])")},
        {redirect, http(404, "no such page: /u?token=hunter2", "text/plain")}};
    for (const std::vector<std::string>& answers : table) {
        CAPTURE(answers);
        ListJobs l;
        l.lists->answers = answers;
        l.apply({ListJobs::config("http://h/t?token=hunter22&a")});
        CHECK(l.state().error);
        CHECK_FALSE(contains(l.state().message, "hunter2"));
        for (const std::string& line : l.take_log()) CHECK_FALSE(contains(line, "hunter2"));
    }
}

TEST_CASE("http_sd: secrets of the query are in no source") {
    ListJobs l;
    l.lists->answers = {listed("x:1")};
    l.apply({ListJobs::config("http://h/t?token=hunter22")});
    REQUIRE(l.host.state("a").size() == 1);
    CHECK(l.host.state("a")[0].first == "http://h/t:0");
    CHECK(l.host.state("a")[0].second[0].at("__meta_url") == "http://h/t?token=hunter22");
}

TEST_CASE("http_sd: the reason for old credentials is reported with the 401") {
    ListJobs l;
    TemporaryDirectory directory;
    HttpSdConfig config = ListJobs::config();
    config.auth.bearer_token_file = directory.write("token", "hunter22");
    l.lists->answers = {listed("x:1")};
    l.apply({config});
    std::filesystem::remove(config.auth.bearer_token_file);
    l.lists->answers = {http(401, "")};
    l.advance(2min);
    CHECK(l.state().error == errc::unauthorized);
    CHECK(contains(l.state().message, "HTTP 401; "));
    CHECK(contains(l.state().message, "No such file"));
}

TEST_CASE("http_sd: TLS and proxy of the configuration lead to the list") {
    ListJobs l;
    HttpSdConfig config = ListJobs::config("https://lists.example/t");
    config.tls.server_name = "other.example";
    config.proxy.url = "http://proxy.example:3128";
    l.lists->answers = {listed("x:1")};
    l.apply({config});
    REQUIRE(l.lists->targets.size() == 1);
    CHECK(l.lists->targets[0].host == "lists.example");
    CHECK(l.lists->targets[0].port == "443");
    CHECK(l.lists->targets[0].tls->server_name == "other.example");
    CHECK(l.lists->targets[0].proxy->host == "proxy.example");
}

TEST_CASE("http_sd: equal configurations are asked for once, others each") {
    ListJobs l;
    l.lists->answers = {listed("x:1")};
    Job a{"a", {}};
    a.http_sd_configs = {ListJobs::config()};
    Job b = a;
    b.name = "b";
    HttpSdConfig other = ListJobs::config();
    other.interval = 30s;
    Job c{"c", {}};
    c.http_sd_configs = {other};
    l.host.manager->apply_config({a, b, c});
    l.settle();
    CHECK(l.lists->requests.size() == 2);
    CHECK(l.metrics->providers == 2);
}

TEST_CASE("http_sd: one entry that fails does not keep the others of its job back") {
    ListJobs l;
    l.lists->answers = {listed("x:1"), http(503, "")};
    l.apply({ListJobs::config("http://a/1"), ListJobs::config("http://b/2")});
    CHECK(l.host.take_diffs() == "a(full): 1(full)[~1:0]");
    l.lists->answers = {http(503, "")};
    l.advance(2min);
    CHECK(l.host.take_diffs() == "");
}

TEST_CASE("http_sd: a mistake is reported at once, and a removed job leaves nothing") {
    ListJobs l;
    l.apply({ListJobs::config("ftp://a")});
    REQUIRE(l.failures.size() == 1);
    CHECK(l.failures[0].origin == TargetOrigin::url);
    l.lists->answers = {""};
    l.apply({ListJobs::config()});
    l.apply({});
    CHECK(l.metrics->providers == 0);
    const std::size_t asked = l.lists->requests.size();
    l.advance(1h);
    CHECK(l.lists->requests.size() == asked);
    CHECK(l.clock->next_expiry() == TimePoint::max());
}

}  // namespace http_targets_tests
