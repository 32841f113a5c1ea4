#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"
#include "support/tested_http_version.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// One host with a separate watch for each of many namespaces.
struct Fleet : Simulation {
    explicit Fleet(const WatchOptions& options = plain_lists()) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = server.url();
        config.api_server.http_version = tested_http_version();
        config.watch = options;
        config.watch.cluster_wide_from = 0;
        for (int i = 0; i < 30; ++i) config.namespaces.push_back("n" + std::to_string(i));
        for (const std::string& ns : config.namespaces)
            server.apply(pod({.name = "before", .ns = ns}));
        host.emplace(context.get_executor(), config);
    }
    void change_all() {
        for (int i = 0; i < 30; ++i)
            server.apply(pod({.name = "after", .ns = "n" + std::to_string(i)}));
    }

    std::optional<Host> host;
};

}  // namespace

TEST_CASE("Recovery: what waits for a server wakes up when another watch finds that it works") {
    Fleet f;
    f.host->run();
    f.advance(1min);
    REQUIRE(f.host->groups.size() == 30);
    f.server.accept_connections(false);
    f.server.disconnect_all();
    f.advance(5min);  // all pauses are half a minute to a minute by now
    f.change_all();
    f.server.accept_connections(true);
    f.server.clear_requests();
    while (f.server.requests().empty()) f.advance(100ms);  // the first watch retries
    f.advance(6s);
    CHECK(f.host->groups.size() == 60);
    CHECK_FALSE(f.host->discoverer->status().error);
    CHECK(f.metrics->of(Kind::pod).lists == 30);  // no watch had to list
}

TEST_CASE("Recovery: a recovered server does not speed up watches with other failures") {
    Fleet f;
    f.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.path.find("/n0/") == std::string::npos) return std::nullopt;
        return sim::Response::failure(500, "InternalError", "of this namespace");
    });
    f.host->run();
    f.advance(2min);
    f.server.clear_requests();
    for (int i = 0; i < 60; ++i) {  // the others succeed all the time
        f.server.end_watches();
        f.advance(1s);
    }
    const auto requests = f.server.requests();
    const auto failed = std::count_if(requests.begin(), requests.end(),
                                      [](const auto& r) { return r.status == 500; });
    CHECK(failed >= 1);
    CHECK(failed <= 15);
}

TEST_CASE("Recovery: a request that was sent before it and fails after it is soon sent again") {
    Simulation sim;
    const auto client = WatchProbe::client_of(sim);
    WatchOptions patient = plain_lists();
    patient.backoff_min = 30s;
    WatchProbe hanging(sim, client, {}, patient);
    WatchProbe failing(sim, client, {Kind::service, {}, {}, {}});
    sim.server.fail_next(sim::Response::never(), 1, "/api/v1/pods");
    sim.server.fail_next(sim::Response::failure(503, "ServiceUnavailable", "starting"), 1,
                         "/api/v1/services");
    hanging.start();
    failing.start();
    sim.advance(5s);
    REQUIRE(failing.watcher().synced());
    while (!hanging.status().error) sim.advance(100ms);
    sim.advance(6s);
    CHECK(hanging.watcher().synced());
}

TEST_CASE("Recovery: a restored server is listed after a probe, and reported") {
    Simulation sim;
    for (int i = 0; i < 20; ++i) sim.server.apply(pod({.name = "p" + std::to_string(i)}));
    WatchProbe probe(sim);
    probe.start();
    sim.advance(1min);
    sim.take_requests();
    // The same pods except one, in an old state: the next versions were used before.
    std::string items;
    for (int i = 1; i < 20; ++i) {
        auto item = *sim.server.get("pods", "default", "p" + std::to_string(i));
        items += (items.empty() ? "" : ",") + boost::json::serialize(item);
    }
    const std::string restored =
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[)" +
        items + "]}";
    sim.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.is_watch() && request.param("resourceVersion") != "3")
            return sim::Response::never();  // accepted and silent, like a real server
        if (request.is_watch()) return std::nullopt;
        sim::Response list;
        list.content_type = "application/json";
        list.body = restored;
        return list;
    });
    sim.server.disconnect_all();
    sim.advance(5s);
    CHECK_FALSE(probe.names().contains("p0"));
    CHECK(probe.names().size() == 19);
    CHECK(sim.metrics->of(Kind::pod).version_regressions >= 1);
    CHECK(probe.status().lists[static_cast<std::size_t>(ListReason::version_went_back)] == 1);
    bool received = false;
    for (const std::string& line : sim.take_log())
        received = received || line.find("version went back from") != std::string::npos;
    CHECK(received);
}

TEST_CASE("Recovery: the start of many is spread by an option, and not without") {
    const bool spread = GENERATE(false, true);
    WatchOptions options = plain_lists();
    if (spread) options.start_jitter = 10s;
    Fleet f(options);
    f.host->run();
    f.settle();
    CHECK((f.server.requests().size() == 60) == !spread);
    f.advance(10s);
    CHECK(f.server.requests().size() == 60);
    CHECK(f.host->groups.size() == 30);
}

TEST_CASE("Recovery: the status says what a watch waits for") {
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    WatchProbe probe(sim);
    CHECK(probe.status().waiting == Waiting::nothing);
    SECTION("for events") {
        probe.start();
        CHECK(probe.status().waiting == Waiting::events);
        CHECK(probe.status().last_list);
        CHECK(probe.status().last_byte);
        CHECK_FALSE(probe.status().last_event);
        CHECK(probe.status().resource_version == sim.server.resource_version());
        sim.advance(10s);
        sim.server.apply(pod({.name = "b"}));
        sim.settle();
        CHECK(probe.status().last_event == sim.clock->now());
        sim.advance(1min);
        CHECK(probe.status().last_bookmark);
        CHECK(*probe.status().last_bookmark > *probe.status().last_event);
    }
    SECTION("for a list") {
        sim.server.set_intercept([](const auto&) { return sim::Response::never(); });
        probe.start();
        CHECK(probe.status().waiting == Waiting::list);
    }
    SECTION("for the end of a pause") {
        sim.server.set_intercept(
            [](const auto&) { return sim::Response::failure(500, "InternalError", "no"); });
        probe.start();
        CHECK(probe.status().waiting == Waiting::backoff);
        CHECK(probe.status().pause.value() >= 800ms);
    }
    SECTION("for the server's version") {
        probe.start();
        sim.server.set_intercept([](const auto&) { return sim::Response::never(); });
        sim.server.disconnect_all();
        sim.advance(3s);
        CHECK(probe.status().waiting == Waiting::probe);
    }
    SECTION("for the next poll") {
        sim.server.set_intercept([](const auto& request) -> std::optional<sim::Response> {
            if (!request.is_watch()) return std::nullopt;
            return sim::Response::failure(405, "MethodNotAllowed", "no");
        });
        probe.start();
        sim.advance(10s);
        CHECK(probe.status().waiting == Waiting::poll);
        CHECK(probe.status().error == errc::unexpected_status);
    }
}
