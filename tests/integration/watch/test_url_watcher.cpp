#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;
using Names = std::set<std::string>;

/// A server with the pods a, b and c.
struct ThreePods : Simulation {
    explicit ThreePods(sim::ApiServerOptions options = {}, sim::TransportFaults faults = {})
        : Simulation(std::move(options), faults) {
        for (const char* name : {"a", "b", "c"}) version = server.apply(pod({.name = name}));
    }
    std::string version;
};

WatchOptions pages_of(unsigned size) {
    WatchOptions options = plain_lists();
    options.page_size = size;
    return options;
}

}  // namespace

TEST_CASE("URLWatcher: lists page by page and watches from the version of the list") {
    ThreePods sim;
    WatchProbe probe(sim, {}, pages_of(2));
    probe.start();

    const auto requests = sim.server.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].request.target == "/api/v1/pods?limit=2");
    CHECK(requests[1].request.param("limit") == "2");
    CHECK_FALSE(requests[1].request.param("continue").empty());
    CHECK(requests[2].request.is_watch());
    CHECK(requests[2].request.param("resourceVersion") == sim.version);
    CHECK(requests[2].request.param("allowWatchBookmarks") == "true");
    const int timeout = std::stoi(std::string(requests[2].request.param("timeoutSeconds")));
    CHECK(timeout >= 300);
    CHECK(timeout <= 600);
    CHECK(sim.server.open_connections() == 1);

    CHECK(probe.names() == Names{"a", "b", "c"});
    CHECK(probe.synced == 1);
    CHECK(probe.at_sync == 3);
    CHECK(probe.watcher().size() == 3);
    CHECK(probe.watcher().find("default", "b") != nullptr);
    CHECK(probe.watcher().find("default", "z") == nullptr);
    CHECK(probe.watcher().find("other", "b") == nullptr);
    const WatchStatus status = probe.status();
    CHECK(status.synced);
    CHECK_FALSE(status.error);
    CHECK(status.objects == 3);
    CHECK(sim.metrics->of(Kind::pod).lists == 1);
    CHECK(sim.metrics->of(Kind::pod).watches == 1);
    CHECK(sim.metrics->of(Kind::pod).synced_watchers == 1);
    CHECK(sim.metrics->of(Kind::pod).objects == 3);
    CHECK(sim.take_log().empty());
}

TEST_CASE("URLWatcher: a page size of zero asks for one page") {
    ThreePods sim;
    WatchProbe probe(sim, {}, pages_of(0));
    probe.start();
    CHECK(sim.take_requests() ==
          Texts{"LIST /api/v1/pods", "WATCH /api/v1/pods from " + sim.version});
    CHECK(probe.names().size() == 3);
}

TEST_CASE("URLWatcher: an empty collection is synced as well") {
    Simulation sim;
    WatchProbe probe(sim);
    probe.start();
    CHECK(probe.synced == 1);
    CHECK(probe.watcher().size() == 0);
}

TEST_CASE("URLWatcher: namespace and selectors restrict what is asked for") {
    Simulation sim;
    sim.server.apply(pod({.name = "a", .ns = "shop", .node = "n1", .labels = {{"app", "web"}}}));
    sim.server.apply(pod({.name = "b", .ns = "shop", .node = "n2", .labels = {{"app", "web"}}}));
    sim.server.apply(pod({.name = "c", .ns = "shop", .node = "n1", .labels = {{"app", "db"}}}));
    sim.server.apply(pod({.name = "d", .ns = "other", .node = "n1", .labels = {{"app", "web"}}}));
    WatchQuery query;
    query.ns = "shop";
    query.label_selector = "app in (web,api)";
    query.field_selector = "spec.nodeName=n1";
    WatchProbe probe(sim, query);
    probe.start();
    CHECK(probe.names() == Names{"a"});
    for (const auto& record : sim.server.requests()) {
        CHECK(record.request.path == "/api/v1/namespaces/shop/pods");
        CHECK(record.request.param("labelSelector") == "app in (web,api)");
        CHECK(record.request.param("fieldSelector") == "spec.nodeName=n1");
    }
    probe.take_changes();
    sim.server.apply(pod({.name = "b", .ns = "shop", .node = "n1", .labels = {{"app", "web"}}}));
    sim.server.apply(pod({.name = "a", .ns = "shop", .node = "n1", .labels = {{"app", "db"}}}));
    sim.settle();
    CHECK(probe.take_changes() == "+b -a");
}

TEST_CASE("URLWatcher: reports what comes, changes and goes") {
    ThreePods sim;
    WatchProbe probe(sim);
    probe.start();
    probe.take_changes();
    sim.server.apply(pod({.name = "d"}));
    sim.server.apply(pod({.name = "a", .labels = {{"app", "web"}}}));
    sim.server.remove("pods", "default", "b");
    sim.settle();
    CHECK(probe.take_changes() == "+d ~a -b");
    CHECK(sim.metrics->of(Kind::pod).added == 4);
    CHECK(sim.metrics->of(Kind::pod).updated == 1);
    CHECK(sim.metrics->of(Kind::pod).removed == 1);
    CHECK(sim.metrics->of(Kind::pod).objects == 3);
    CHECK(sim.metrics->of(Kind::pod).events == 3);
}

TEST_CASE("URLWatcher: an event that changes no label is no change") {
    ThreePods sim;
    WatchProbe probe(sim);
    probe.start();
    probe.take_changes();
    sim.server.apply(pod({.name = "a", .probe_time = "2030-01-01T00:00:00Z"}));
    sim.settle();
    CHECK(sim.metrics->of(Kind::pod).events == 1);
    CHECK(probe.take_changes().empty());
}

TEST_CASE("URLWatcher: resumes from the last event's version") {
    ThreePods sim;
    WatchProbe probe(sim);
    probe.start();
    const std::string last = sim.server.apply(pod({.name = "d"}));
    sim.settle();
    sim.take_requests();
    probe.take_changes();

    Texts expected{"LIST /api/v1/pods?limit=1", "WATCH /api/v1/pods from " + last};
    SECTION("soon after the server ended the watch") {
        sim.advance(1s);
        sim.server.end_watches();
        sim.advance(100ms);
        expected.erase(expected.begin());
    }
    SECTION("after a while when the connection broke") {
        sim.server.disconnect_all();
        sim.advance(100ms);
        CHECK(sim.take_requests().empty());
        sim.advance(1600ms);
    }
    SECTION("and misses nothing that happens meanwhile") {
        sim.server.accept_connections(false);
        sim.server.disconnect_all();
        sim.settle();
        sim.server.apply(pod({.name = "e"}));
        sim.server.remove("pods", "default", "a");
        sim.server.accept_connections(true);
        sim.advance(1600ms);
        CHECK(probe.take_changes() == "+e -a");
    }
    CHECK(sim.take_requests() == expected);
    CHECK(probe.take_changes().empty());
    CHECK(sim.metrics->of(Kind::pod).lists == 1);
    CHECK(sim.server.open_watches() == 1);
}

TEST_CASE("URLWatcher: bookmarks advance the version that it resumes from") {
    ThreePods sim;
    WatchProbe probe(sim);
    probe.start();
    sim.server.apply(service("unrelated"));
    const std::string newest = sim.server.apply(service("unrelated", {{"a", "b"}}));
    sim.advance(60s);
    CHECK(sim.metrics->of(Kind::pod).bookmarks == 1);
    sim.take_requests();
    sim.server.end_watches();
    sim.advance(100ms);
    CHECK(sim.take_requests() == Texts{"WATCH /api/v1/pods from " + newest});
    CHECK(probe.take_changes() == "+a +b +c");
}

TEST_CASE("URLWatcher: a relist brings the true differences only") {
    ThreePods sim;
    WatchProbe probe(sim, {}, pages_of(2));
    probe.start();
    probe.take_changes();
    sim.server.accept_connections(false);
    sim.server.disconnect_all();
    sim.settle();
    std::string expected;
    SECTION("none for equal content") {
        sim.server.apply(pod({.name = "a", .probe_time = "2030-01-01T00:00:00Z"}));
    }
    SECTION("what was deleted is removed") {
        sim.server.remove("pods", "default", "b");
        expected = "-b";
    }
    SECTION("all of it, if all was deleted") {
        for (const char* name : {"a", "b", "c"}) sim.server.remove("pods", "default", name);
    }
    SECTION("what came or changed") {
        sim.server.apply(pod({.name = "c", .ip = "10.0.0.9"}));
        sim.server.apply(pod({.name = "d"}));
        expected = "~c +d";
    }
    SECTION("another object of the same name is a replacement") {
        sim.server.remove("pods", "default", "b");
        sim.server.apply(pod({.name = "b"}));
        expected = "!b";
    }
    const std::size_t count = sim.server.count("pods");
    sim.server.compact();
    sim.server.accept_connections(true);
    sim.advance(1600ms);
    if (count == 0) {  // the list has lost so much that a second one has to confirm it
        CHECK(probe.take_changes().empty());
        sim.advance(2s);
    }
    CHECK(sim.metrics->of(Kind::pod).expired == 1);
    CHECK(sim.metrics->of(Kind::pod).lists == 2);
    CHECK(probe.watcher().size() == count);
    if (count != 0) {
        CHECK(probe.take_changes() == expected);
    } else {
        CHECK(probe.take_changes().size() == std::string("-a -b -c").size());
    }
    CHECK(probe.synced == 1);
    CHECK(sim.server.open_watches() == 1);
}

TEST_CASE("URLWatcher: a replacement on the watch is not an update") {
    ThreePods sim;
    WatchProbe probe(sim);
    probe.start();
    probe.take_changes();
    sim.server.remove("pods", "default", "b");
    sim.server.apply(pod({.name = "b"}));
    sim.settle();
    CHECK(probe.take_changes() == "-b +b");
}

TEST_CASE("URLWatcher: a transport that brings one byte at a time changes nothing") {
    ThreePods sim({}, {.max_read = 1});
    WatchProbe probe(sim, {}, pages_of(2));
    probe.start();
    sim.server.apply(pod({.name = "d"}));
    sim.server.remove("pods", "default", "a");
    sim.settle();
    CHECK(probe.take_changes() == "+a +b +c +d -a");
    CHECK(probe.synced == 1);
    CHECK(sim.take_log().empty());
}

TEST_CASE("URLWatcher: whichever operation of the transport fails, it gets there") {
    const auto failing = GENERATE(range(std::size_t{0}, std::size_t{24}));
    CAPTURE(failing);
    ThreePods sim({}, {.max_read = 600, .fail_operation = failing});
    WatchProbe probe(sim, {}, pages_of(1));
    probe.start();
    sim.server.apply(pod({.name = "d"}));
    sim.server.remove("pods", "default", "a");
    sim.advance(30s);
    CHECK(probe.names() == Names{"b", "c", "d"});
    CHECK(probe.synced == 1);
    CHECK_FALSE(probe.status().error);
    CHECK(sim.server.open_watches() == 1);
    CHECK(sim.server.open_connections() == 1);
}

TEST_CASE("URLWatcher: wherever the connection breaks in the bytes, it gets there") {
    const auto bytes = GENERATE(range(std::size_t{1}, std::size_t{5000}, std::size_t{97}));
    CAPTURE(bytes);
    ThreePods sim({}, {.fail_after_bytes = bytes});
    WatchProbe probe(sim, {}, pages_of(1));
    probe.start();
    sim.server.apply(pod({.name = "d"}));
    sim.server.remove("pods", "default", "a");
    sim.advance(30s);
    CHECK(probe.names() == Names{"b", "c", "d"});
    CHECK(probe.synced == 1);
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("URLWatcher: nothing happens before start, and nothing after it is gone") {
    ThreePods sim;
    WatchProbe probe(sim);
    sim.advance(60s);
    CHECK(sim.take_requests().empty());
    CHECK(sim.metrics->of(Kind::pod).watchers == 1);
    SECTION("not started") { probe.destroy(); }
    SECTION("while connecting") {
        const_cast<URLWatcher&>(probe.watcher()).start();
        probe.destroy();
    }
    SECTION("while watching") {
        probe.start();
        probe.take_changes();
        probe.destroy();
    }
    SECTION("while sleeping") {
        probe.start();
        sim.server.disconnect_all();
        sim.settle();
        probe.take_changes();
        probe.destroy();
    }
    sim.server.apply(pod({.name = "d"}));
    sim.advance(60s);
    CHECK(probe.take_changes().empty());
    CHECK(sim.server.open_connections() == 0);
    CHECK(sim.metrics->of(Kind::pod).watchers == 0);
    CHECK(sim.metrics->of(Kind::pod).synced_watchers == 0);
    CHECK(sim.metrics->of(Kind::pod).objects == 0);
}

TEST_CASE("URLWatcher: the observer may drop it in every call") {
    ThreePods sim;
    WatchProbe probe(sim);
    const auto drop = [&] { probe.destroy(); };
    SECTION("a change of the list") {
        probe.after_change = drop;
        probe.start();
    }
    SECTION("a change of status") {
        probe.after_status = drop;
        probe.start();
    }
    SECTION("a failure before the first request") {
        ApiServerConfig unusable;
        unusable.auth.bearer_token_file = "/no/such/file";
        WatchProbe other(sim, {}, {}, unusable);
        other.after_status = [&] { other.destroy(); };
        other.start();
        CHECK_FALSE(other.alive());
        probe.destroy();
    }
    SECTION("synced") {
        probe.after_synced = drop;
        probe.start();
    }
    SECTION("the end of a batch") {
        probe.after_batch = drop;
        probe.start();
    }
    SECTION("a removal by a relist") {
        probe.start();
        sim.server.disconnect_all();
        sim.server.accept_connections(false);
        sim.settle();
        for (const char* name : {"a", "b"}) sim.server.remove("pods", "default", name);
        sim.server.compact();
        sim.advance(2s);  // fails once, so that the list is also a recovery
        sim.server.accept_connections(true);
        probe.after_change = drop;
        sim.advance(10s);
    }
    SECTION("the recovery of a watch") {
        sim.server.fail_next(sim::Response::failure(403, "Forbidden", "no"), 1);
        sim.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
            if (!request.is_watch()) return std::nullopt;
            return sim::Response::failure(403, "Forbidden", "no");
        });
        probe.start();
        sim.advance(5s);
        REQUIRE(probe.status().error == errc::forbidden);
        sim.server.set_intercept({});
        probe.after_status = drop;
        sim.advance(60s);
    }
    CHECK_FALSE(probe.alive());
    sim.server.apply(pod({.name = "d"}));
    sim.advance(60s);
    CHECK(sim.server.open_connections() == 0);
    CHECK(sim.metrics->of(Kind::pod).watchers == 0);
    CHECK(sim.metrics->of(Kind::pod).synced_watchers == 0);
    CHECK(sim.metrics->of(Kind::pod).objects == 0);
}
