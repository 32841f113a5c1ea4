#include "support/contains.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

sim::Response json_answer(std::string body) {
    sim::Response response;
    response.status = 200;
    response.body = std::move(body);
    return response;
}

}  // namespace

TEST_CASE("URLWatcher: a watch that is answered with a list backs off and says so") {
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    sim.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (!request.is_watch()) return std::nullopt;
        return json_answer(R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]})");
    });
    WatchProbe probe(sim);
    probe.start();
    CHECK(probe.status().error == errc::malformed_response);
    sim.take_requests();
    sim.advance(60s);
    // 30 s is the maximum pause; without backoff there would be hundreds of requests.
    CHECK(sim.take_requests().size() < 20);
    CHECK(probe.names() == std::set<std::string>{"a"});
    sim.server.set_intercept({});
    sim.advance(60s);
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("URLWatcher: an object is deleted even if its last form cannot be used") {
    Simulation sim(json_server());
    sim.server.apply(pod({.name = "a"}));
    WatchProbe probe(sim);
    probe.start();
    REQUIRE(probe.names() == std::set<std::string>{"a"});
    const auto object = *sim.server.get("pods", "default", "a");
    sim.server.send_to_watches(
        "pods",
        R"({"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",)"
        R"("namespace":")" +
            std::string(object.at("metadata").at("namespace").as_string()) +
            R"(","resourceVersion":"99"},"spec":{"nodeName":5}}})"
            "\n");
    sim.settle();
    CHECK(probe.names().empty());
}

TEST_CASE("URLWatcher: a list without items is not an empty list") {
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    WatchProbe probe(sim);
    probe.start();
    sim.server.compact();
    sim.server.fail_next(
        json_answer(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}})"));
    sim.server.disconnect_all();
    sim.server.set_intercept([](const sim::Request&) -> std::optional<sim::Response> {
        return json_answer(
            R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}})");
    });
    sim.advance(60s);
    CHECK(probe.names() == std::set<std::string>{"a"});
    CHECK(probe.status().error == errc::malformed_response);
}

TEST_CASE("URLWatcher: the text of an ERROR event is made printable and short") {
    Simulation sim(json_server());
    WatchProbe probe(sim);
    probe.start();
    sim.server.send_to_watches(
        "pods",
        R"({"type":"ERROR","object":{"kind":"Status","code":500,"message":"one\nk8s_sd: forged )" +
            std::string(5000, 'x') +
            R"("}})"
            "\n");
    sim.settle();
    const std::string message = probe.status().message;
    CHECK(contains(message, "one k8s_sd: forged"));
    CHECK_FALSE(contains(message, "\n"));
    CHECK(message.size() < 1000);
}

TEST_CASE("URLWatcher: the advice for 400 depends on who answers") {
    Simulation sim;
    sim::Response plain;
    plain.status = 400;
    plain.content_type = "text/plain";
    plain.body = "Client sent an HTTP request to an HTTPS server.";
    SECTION("something that is no API server") {
        sim.server.set_intercept([&](const sim::Request&) { return std::optional(plain); });
        WatchProbe probe(sim);
        probe.start();
        CHECK(contains(probe.status().message, "with the right scheme"));
        CHECK_FALSE(contains(probe.status().message, "selector"));
    }
    SECTION("an API server") {
        WatchProbe probe(
            sim,
            {.kind = Kind::pod, .ns = {}, .label_selector = {}, .field_selector = "no.such=field"});
        probe.start();
        CHECK(contains(probe.status().message, "check the selectors for pods"));
    }
}

TEST_CASE("URLWatcher: a namespace that could forge a request is refused") {
    Simulation sim;
    for (const char* ns : {"a HTTP/1.1\r\nX: y", "../..", "a/b", "A"}) {
        CHECK_THROWS_AS(
            WatchProbe(sim,
                       {.kind = Kind::pod, .ns = ns, .label_selector = {}, .field_selector = {}}),
            ConfigError);
    }
}

TEST_CASE("URLWatcher: a list from the past is taken and logged") {
    Simulation sim;
    for (int i = 0; i < 12; ++i) sim.server.apply(pod({.name = "a" + std::to_string(i)}));
    WatchProbe probe(sim);
    probe.start();
    REQUIRE(probe.names().size() == 12);
    sim.take_log();
    sim.server.load(
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2"},"items":[]})");
    sim.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.is_watch()) return std::nullopt;
        return json_answer(
            R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2"},"items":[]})");
    });
    sim.advance(10s);
    CHECK(probe.names().empty());
    bool received = false;
    for (const std::string& line : sim.take_log())
        received = received || contains(line, "version went back from");
    CHECK(received);
}

TEST_CASE("Discoverer: an object that asks for too many targets keeps those that it had") {
    Simulation sim;
    const auto endpoints = [](int addresses, int ports) {
        std::string json =
            R"({"kind":"Endpoints","apiVersion":"v1","metadata":{"name":"e","namespace":"n"},"subsets":[{"addresses":[)";
        for (int i = 0; i < addresses; ++i)
            json +=
                (i ? "," : "") + std::string(R"({"ip":"10.0.0.)") + std::to_string(i + 1) + R"("})";
        json += R"(],"ports":[)";
        for (int i = 0; i < ports; ++i)
            json += (i ? "," : "") + std::string(R"({"port":)") + std::to_string(i + 1) +
                    R"(,"protocol":"TCP"})";
        return json + "]}]}";
    };
    DiscoveryConfig config{.watch = plain_lists()};
    config.role = Role::endpoints;
    config.api_server.url = sim.server.url();
    config.watch.max_targets_per_object = 10;
    sim.server.apply(endpoints(2, 5));
    Host host(sim.context.get_executor(), config);
    host.run();
    sim.settle();
    REQUIRE(host.groups.at("endpoints/n/e")->size() == 10);
    host.take_diffs();
    sim.server.apply(endpoints(2, 6));
    sim.settle();
    CHECK(host.take_diffs().empty());
    CHECK(host.groups.at("endpoints/n/e")->size() == 10);
    const auto log = sim.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log.front(), "max_targets_per_object"));
    const DiscovererStatus status = host.discoverer->status();
    CHECK(status.synced);
    CHECK(status.error == errc::too_many_targets);
    CHECK(contains(status.message, "endpoints n/e has more than 10 targets"));
    sim.server.apply(endpoints(3, 6));
    sim.settle();
    CHECK(sim.take_log().empty());
    sim.server.apply(endpoints(1, 6));
    sim.settle();
    CHECK(host.groups.at("endpoints/n/e")->size() == 6);
    CHECK_FALSE(host.discoverer->status().error);
    sim.server.apply(endpoints(2, 6));
    sim.settle();
    CHECK(host.discoverer->status().error == errc::too_many_targets);
    sim.server.remove("endpoints", "n", "e");
    sim.settle();
    CHECK(host.groups.empty());
    CHECK_FALSE(host.discoverer->status().error);
}

TEST_CASE("Discoverer: a change of a label whose name is hidden by another one is no change") {
    Simulation sim;
    const auto with = [](const std::string& hidden) {
        return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","annotations":{"a.b":")" +
               hidden +
               R"(","a_b":"wins"}},"spec":{"containers":[{"name":"c"}]},"status":{"podIP":"10.0.0.1"}})";
    };
    sim.server.apply(with("one"));
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = sim.server.url();
    Host host(sim.context.get_executor(), config);
    host.run();
    sim.settle();
    host.take_diffs();
    sim.server.apply(with("two"));
    sim.settle();
    CHECK(host.take_diffs().empty());
    CHECK(host.label("pod/n/p", "__meta_kubernetes_pod_annotation_a_b") == "wins");
}
