#include "support/monitor_cluster.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

// Bounds are those of requests, bytes and calls; a test that takes long is one that is not bounded.

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

#if defined(K8S_SD_THREAD_SANITIZER) || defined(K8S_SD_ADDRESS_SANITIZER)
constexpr std::size_t many_monitors = 500;
constexpr std::size_t many_secrets = 150;
#else
constexpr std::size_t many_monitors = 10'000;
constexpr std::size_t many_secrets = 1'000;
#endif

std::size_t count_of(const std::vector<std::string>& lines, std::string_view part) {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(),
                      [&](const std::string& line) { return line.find(part) != line.npos; }));
}

std::string name_of(std::size_t i) { return "m" + std::to_string(i); }

}  // namespace

TEST_CASE("Hostile monitors: very many that all change cost one generation and no request each") {
    Monitors monitors;
    for (std::size_t i = 0; i < many_monitors; ++i) {
        monitors.service_monitor("a", name_of(i), "http");
    }
    std::size_t callbacks = 0;
    std::size_t updated = 0;
    std::size_t removed = 0;
    monitors.config.min_update_interval = 1s;
    monitors.source.emplace(monitors.context.get_executor(), monitors.config,
                            [&](const MonitorDiff& diff) {
                                ++callbacks;
                                updated += diff.updated.size();
                                removed += diff.removed.size();
                            });
    monitors.source->async_run(boost::asio::detached);
    monitors.settle();
    CHECK(callbacks == 1);
    CHECK(updated == many_monitors);
    CHECK(monitors.source->status().generations == many_monitors);
    const std::size_t bytes = monitors.source->status().bytes;
    CHECK(bytes > many_monitors * 1'000);
    CHECK(bytes < many_monitors * 50'000);
    monitors.take_requests();

    for (std::size_t i = 0; i < many_monitors; ++i) {
        monitors.service_monitor("a", name_of(i), "grpc");
    }
    monitors.settle();
    monitors.advance(1s);
    CHECK(monitors.source->status().generations == 2 * many_monitors);
    CHECK(updated == 2 * many_monitors);
    CHECK(callbacks <= 3);
    CHECK(monitors.source->status().bytes == bytes);
    CHECK(monitors.take_requests().size() < 10);

    INFO("each of them changed back before the host was called");
    const std::size_t before = callbacks;
    monitors.service_monitor("a", name_of(0), "http");
    monitors.settle();
    monitors.advance(1s);
    CHECK(callbacks == before + 1);
    for (std::size_t i = 0; i < many_monitors; ++i) {
        monitors.server.remove("servicemonitors", "a", name_of(i));
    }
    monitors.settle();
    monitors.advance(1s);
    CHECK(removed == many_monitors);
    CHECK(callbacks <= before + 4);
    CHECK(monitors.source->status().bytes == 0);
    CHECK(monitors.source->objects().empty());
    CHECK(monitors.take_requests().size() < 10);
}

TEST_CASE("Hostile monitors: one that names a thousand Secrets") {
    Monitors monitors;
    boost::json::array endpoints;
    for (std::size_t i = 0; i < many_secrets; ++i) {
        const std::string name = "s" + std::to_string(i);
        endpoints.push_back(boost::json::object{
            {"port", "http"}, {"bearerTokenSecret", {{"name", name}, {"key", "token"}}}});
        monitors.server.apply(sim::secret("a", name).data("token", name));
    }
    const std::string spec = boost::json::serialize(
        boost::json::object{{"selector", boost::json::object()}, {"endpoints", endpoints}});
    monitors.apply("ServiceMonitor", "a", "greedy", spec);
    monitors.with_secret("a", "modest", "s0");

    SECTION("it is refused, and none of its Secrets is read") {
        monitors.start();
        CHECK(monitors.names() == std::vector<std::string>{"serviceMonitor/a/modest/0"});
        CHECK_THAT(monitors.why("a", "greedy"),
                   StartsWith("refused") && ContainsSubstring("more than 100 Secrets"));
        CHECK(monitors.source->status().references == 1);
        CHECK(count_of(monitors.take_requests(), "/secrets") <= 4);
    }
    SECTION("with higher limits each Secret is read once") {
        monitors.config.limits.references_per_monitor = many_secrets;
        monitors.start();
        monitors.advance(5s);
        CHECK(monitors.source->jobs().size() == many_secrets + 1);
        CHECK(monitors.source->status().references == many_secrets);
        CHECK(count_of(monitors.take_requests(), "/secrets") <= 3 * many_secrets);
        CHECK(monitors.source->status().generations <= 6);  // not one for each Secret
        monitors.server.remove("servicemonitors", "a", "greedy");
        monitors.settle();
        CHECK(monitors.source->status().references == 1);
        CHECK(monitors.source->jobs().size() == 1);
    }
}

TEST_CASE("Hostile monitors: one namespace cannot take the room of others") {
    Monitors monitors;
    monitors.config.limits.room.jobs = 10;
    for (std::size_t i = 0; i < 30; ++i) monitors.service_monitor("a", name_of(i), "http");
    monitors.start();
    CHECK(monitors.source->jobs().size() == 10);
    monitors.take();
    monitors.take_log();

    INFO("others have their share, although they come later");
    for (std::size_t i = 0; i < 3; ++i) monitors.service_monitor("b", name_of(i), "http");
    monitors.service_monitor("c", "m", "http");
    monitors.settle();
    const std::vector<std::string> shared = monitors.names();
    CHECK(shared.size() == 10);
    CHECK(count_of(shared, "/a/") == 6);
    CHECK(count_of(shared, "/b/") == 3);
    CHECK(count_of(shared, "/c/") == 1);
    CHECK_THAT(monitors.why("a", "m9"), StartsWith("refused") && ContainsSubstring("10 jobs"));
    CHECK_THAT(monitors.source->object(MonitorKind::service_monitor, "a", "m9")->why.remedy,
               ContainsSubstring("MonitorRoom"));

    INFO("the result is that of a fresh start");
    {
        MonitorSource fresh(monitors.context.get_executor(), monitors.config,
                            [](const MonitorDiff&) {});
        fresh.async_run(boost::asio::detached);
        monitors.settle();
        std::vector<std::string> names;
        for (const MonitorJobPtr& job : fresh.jobs()) names.push_back(job->origin);
        CHECK(names == shared);
    }
    INFO("changes of refused monitors change nothing, and removals make room");
    const auto changes = monitors.source->status().job_changes;
    monitors.service_monitor("a", "m9", "grpc");
    monitors.settle();
    CHECK(monitors.names() == shared);
    CHECK(monitors.source->status().job_changes == changes);
    for (std::size_t i = 0; i < 25; ++i) {
        monitors.server.remove("servicemonitors", "a", name_of(i));
    }
    monitors.settle();
    CHECK(monitors.source->jobs().size() == 9);
    CHECK(monitors.kind(monitors.source->status(), MonitorKind::service_monitor).refused == 0);
}

TEST_CASE("Hostile monitors: objects of any size do not disturb others") {
    Monitors monitors;
    monitors.config.limits.bytes_per_monitor = 200'000;
    monitors.config.limits.jobs_per_monitor = 100;
    monitors.config.limits.room.bytes = 300'000;
    monitors.service_monitor("a", "modest", "http");
    const auto with_endpoints = [&](std::string_view name, std::size_t count, std::size_t labels) {
        boost::json::array list;
        for (std::size_t i = 0; i < labels; ++i) list.push_back(boost::json::string(name_of(i)));
        boost::json::array endpoints(count, boost::json::object{{"port", "http"}});
        monitors.apply(
            "ServiceMonitor", "b", name,
            boost::json::serialize(boost::json::object{{"selector", boost::json::object()},
                                                       {"podTargetLabels", std::move(list)},
                                                       {"endpoints", std::move(endpoints)}}));
    };
    with_endpoints("endpoints", 101, 0);
    with_endpoints("labels", 100, 500);
    with_endpoints("product", 90, 30);
    monitors.apply("ServiceMonitor", "b", "text",
                   boost::json::serialize(boost::json::object{
                       {"selector", boost::json::object()},
                       {"jobLabel", std::string(300'000, 'x')},
                       {"endpoints", boost::json::array{boost::json::object{{"port", "http"}}}}}));
    monitors.start();
    CHECK(monitors.names() == std::vector<std::string>{"serviceMonitor/a/modest/0"});
    CHECK_THAT(monitors.why("b", "endpoints"), ContainsSubstring("has 101 endpoints"));
    CHECK_THAT(monitors.why("b", "labels"), ContainsSubstring("200000 bytes"));
    CHECK_THAT(monitors.why("b", "text"), ContainsSubstring("200000 bytes"));
    CHECK_THAT(monitors.why("b", "product"), ContainsSubstring("300000 bytes"));
    CHECK(monitors.source->status().bytes < 300'000);
}

TEST_CASE("Hostile monitors: any text has a status in one line, and few lines in the log") {
    Monitors monitors;
    monitors.service_monitor("b", "modest", "http");
    const std::array<std::string, 8> texts{"\n# line",
                                           std::string("a\0b", 3),
                                           "\x1b[31m",
                                           "\u202e\U0001F4A5",
                                           std::string(20'000, '('),
                                           "$(SHARD)${1}{{x}}%{Y}",
                                           "a: b\n- c",
                                           "</script>"};
    std::size_t count = 0;
    const auto apply = [&](const char* kind, boost::json::object spec) {
        monitors.apply(kind, "a", name_of(count++), boost::json::serialize(spec));
    };
    for (const std::string& text : texts) {
        const boost::json::object selector{{"matchLabels", boost::json::object{{text, text}}}};
        for (const char* field : {"port", "path", "scheme", "interval", "scrapeTimeout", "proxyUrl",
                                  "bearerTokenFile"}) {
            apply("ServiceMonitor",
                  {{"selector", boost::json::object()},
                   {"endpoints", boost::json::array{boost::json::object{{field, text}}}}});
        }
        for (const char* field :
             {"sourceLabels", "regex", "targetLabel", "replacement", "action"}) {
            boost::json::object rule{{"targetLabel", "t"}, {field, text}};
            apply("PodMonitor",
                  {{"selector", boost::json::object()},
                   {"podMetricsEndpoints",
                    boost::json::array{boost::json::object{
                        {"port", "http"}, {"relabelings", boost::json::array{rule}}}}}});
        }
        apply("ServiceMonitor", {{"selector", selector},
                                 {"jobLabel", text},
                                 {"targetLabels", boost::json::array{text}},
                                 {"scrapeClass", text},
                                 {"endpoints", boost::json::array{boost::json::object()}}});
        apply("ServiceMonitor",
              {{"selector", boost::json::object()},
               {"namespaceSelector", {{"matchNames", boost::json::array{text}}}},
               {"endpoints", boost::json::array{boost::json::object{
                                 {"basicAuth",
                                  {{"username", {{"name", text}, {"key", text}}},
                                   {"password", {{"name", text}, {"key", text}}}}}}}}});
        apply("Probe", {{"prober", {{"url", text}}}, {"targets", boost::json::object()}});
        apply("ScrapeConfig",
              {{"staticConfigs", boost::json::array{boost::json::object{
                                     {"targets", boost::json::array{text}},
                                     {"labels", boost::json::object{{text, text}}}}}}});
    }
    monitors.start();
    monitors.advance(15s);
    CHECK(monitors.source->status().synced);
    CHECK(monitors.source->objects().size() == count + 1);
    CHECK(monitors.job("serviceMonitor/b/modest/0"));
    for (const MonitorObjectStatus& object : monitors.source->objects()) {
        for (const std::string& words : {object.why.reason, object.why.remedy}) {
            CHECK(words.size() < 2'000);
            CHECK(std::all_of(words.begin(), words.end(),
                              [](char c) { return static_cast<unsigned char>(c) >= 0x20; }));
        }
    }
    const std::vector<std::string> log = monitors.take_log();
    CHECK(count_of(log, "is refused") <= 50);
    for (const std::string& line : log) CHECK(line.find('\n') == line.npos);
}
