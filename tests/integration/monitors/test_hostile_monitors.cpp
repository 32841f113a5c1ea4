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
#include <string_view>
#include <utility>
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

/// Applies a monitor with one endpoint, which has these rules.
void apply_rules(Monitors& monitors, std::string_view kind, std::string_view key,
                 boost::json::array rules) {
    const boost::json::object endpoint{{"port", "http"}, {key, std::move(rules)}};
    monitors.apply(
        kind, "a", "short",
        boost::json::serialize(boost::json::object{{"selector", boost::json::object()},
                                                   {"endpoints", boost::json::array{endpoint}}}));
}

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
    monitors.config.limits.quota.jobs = 10;
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
               ContainsSubstring("MonitorQuota"));

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

TEST_CASE("Hostile monitors: jobs that keep their room are never removed") {
    Monitors monitors;
    monitors.config.limits.quota.jobs = 10;
    const auto with_endpoints = [&](std::string_view ns, std::size_t count) {
        boost::json::array endpoints(count, boost::json::object{{"port", "http"}});
        monitors.apply(
            "ServiceMonitor", ns, "growing",
            boost::json::serialize(boost::json::object{{"selector", boost::json::object()},
                                                       {"endpoints", std::move(endpoints)}}));
    };
    for (std::size_t i = 0; i < 30; ++i) monitors.service_monitor("a", name_of(i), "http");
    with_endpoints("b", 2);
    monitors.start();
    CHECK(count_of(monitors.names(), "/b/") == 2);
    monitors.take();
    monitors.take_log();

    with_endpoints("b", 4);
    monitors.settle();
    CHECK(count_of(monitors.names(), "/b/") == 4);
    CHECK(monitors.names().size() == 10);
    CHECK(count_of(monitors.take(), "-serviceMonitor/b/") == 0);
    CHECK(count_of(monitors.take_log(), "b/growing") == 0);

    INFO("a newcomer with room is never refused");
    monitors.service_monitor("c", "m", "http");
    monitors.settle();
    CHECK(count_of(monitors.names(), "/c/") == 1);
    CHECK(count_of(monitors.take_log(), "c/m") == 0);
    with_endpoints("b", 11);
    monitors.settle();
    CHECK_THAT(monitors.why("b", "growing"), StartsWith("refused"));
    CHECK(monitors.names().size() == 10);
}

TEST_CASE("Hostile monitors: two that change in a full room get their jobs") {
    Monitors monitors;
    monitors.config.limits.quota.jobs = 4;
    const auto apply = [&](std::string_view name, std::size_t endpoints, std::size_t bytes) {
        boost::json::array list(endpoints, boost::json::object{{"port", "http"}});
        monitors.apply(
            "ServiceMonitor", "a", name,
            boost::json::serialize(boost::json::object{{"selector", boost::json::object()},
                                                       {"jobLabel", std::string(bytes, 'x')},
                                                       {"endpoints", std::move(list)}}));
    };
    apply("long", 1, 10'000);
    apply("many", 3, 10);
    monitors.start();
    REQUIRE(monitors.names().size() == 4);
    // Both have just enough room, before and afterwards, but not in between.
    monitors.source->cancel();
    monitors.settle();
    monitors.config.limits.quota.bytes = monitors.source->status().bytes + 100;
    monitors.start();
    REQUIRE(monitors.names().size() == 4);
    apply("long", 3, 10);
    apply("many", 1, 10'000);
    monitors.settle();
    CHECK(monitors.names().size() == 4);
    CHECK(monitors.kind(monitors.source->status(), MonitorKind::service_monitor).refused == 0);
}

TEST_CASE("Hostile monitors: one namespace cannot take the references of others") {
    Monitors monitors;
    monitors.config.limits.references = 4;
    for (std::size_t i = 0; i < 10; ++i) {
        monitors.server.apply(sim::secret("a", name_of(i)).data("token", "t"));
        monitors.with_secret("a", name_of(i), name_of(i));
    }
    monitors.server.apply(sim::secret("b", "s").data("token", "t"));
    monitors.with_secret("b", "first", "s");
    monitors.with_secret("b", "second", "s");
    monitors.start();
    CHECK(count_of(monitors.names(), "/a/") == 3);
    CHECK(count_of(monitors.names(), "/b/") == 2);
    CHECK(monitors.source->status().references == 4);
    CHECK_THAT(monitors.why("a", "m9"), ContainsSubstring("share of its namespace"));
}

TEST_CASE("Hostile monitors: the patterns of one monitor are bounded and counted once") {
    Monitors monitors;
    const auto with_rules = [&](std::string_view name, std::size_t endpoints, std::size_t rules,
                                bool equal) {
        boost::json::array list;
        for (std::size_t i = 0; i < endpoints; ++i) {
            boost::json::array relabelings;
            for (std::size_t k = 0; k < rules; ++k) {
                const std::string regex = "(a" + std::to_string(k) +
                                          (equal ? "" : "x" + std::to_string(i)) +
                                          "|b.c){200}x{500}";
                relabelings.push_back(boost::json::object{{"action", "drop"},
                                                          {"sourceLabels", boost::json::array{"x"}},
                                                          {"regex", regex}});
            }
            list.push_back(
                boost::json::object{{"port", "http"}, {"relabelings", std::move(relabelings)}});
        }
        monitors.apply("ServiceMonitor", "a", name,
                       boost::json::serialize(boost::json::object{
                           {"selector", boost::json::object()}, {"endpoints", std::move(list)}}));
    };
    with_rules("one", 1, 10, true);
    monitors.start();
    const std::size_t of_one = monitors.source->status().bytes;
    CHECK(of_one > 200'000);
    with_rules("one", 10, 10, true);
    monitors.settle();
    CHECK(monitors.names().size() == 10);
    CHECK(monitors.source->status().bytes < 2 * of_one);
    with_rules("one", 10, 10, false);
    monitors.settle();
    CHECK(monitors.source->status().bytes > 5 * of_one);
}

TEST_CASE("Hostile monitors: compiled rules take room, although their text is short") {
    constexpr std::size_t many = 1'000;
    Monitors monitors;
    boost::json::array relabelings;
    for (std::size_t i = 0; i < many; ++i) {
        relabelings.push_back(
            boost::json::object{{"action", "labeldrop"}, {"regex", "a" + std::to_string(i)}});
    }
    apply_rules(monitors, "ServiceMonitor", "relabelings", std::move(relabelings));
    monitors.start();
    CHECK(monitors.names().size() == 1);
    CHECK(monitors.source->status().bytes > many * 1'000);
}

TEST_CASE("Hostile monitors: compiled selectors take room, although their text is short") {
    constexpr std::size_t many = 1'000;
    Monitors monitors(false);
    sim::add_vm_monitors(monitors.server);
    monitors.config.owner = MonitorOwnerObject{"monitoring", "agent", MonitorOwnerKind::vm_agent};
    monitors.apply("VMAgent", "monitoring", "agent", R"({"selectAllByDefault": true})");
    boost::json::array selectors;
    for (std::size_t i = 0; i < many; ++i) selectors.push_back("a");
    boost::json::array rules{
        boost::json::object{{"action", "labeldrop"}, {"regex", "a"}, {"if", std::move(selectors)}}};
    apply_rules(monitors, "VMServiceScrape", "relabelConfigs", std::move(rules));
    monitors.start();
    CHECK(monitors.names().size() == 1);
    CHECK(monitors.source->status().bytes > many * 1'000);
}

TEST_CASE("Hostile monitors: objects of any size do not disturb others") {
    Monitors monitors;
    monitors.config.limits.bytes_per_monitor = 200'000;
    monitors.config.limits.jobs_per_monitor = 100;
    monitors.config.limits.quota.bytes = 300'000;
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
