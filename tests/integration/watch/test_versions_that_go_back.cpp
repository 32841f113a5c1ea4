#include "integration/watch/url_watcher_faults.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

// A server that was restored from a backup may accept watches from its future.

namespace {

std::string event_at(const std::string& type, const std::string& name, const std::string& version) {
    return R"({"type":")" + type + R"(","object":{"kind":"Pod","apiVersion":"v1","metadata":)" +
           (name.empty() ? "{" : R"({"name":")" + name + R"(","namespace":"default","uid":"u",)") +
           R"("resourceVersion":")" + version + "\"}}}\n";
}
std::string bookmark_at(const std::string& version) { return event_at("BOOKMARK", "", version); }

std::uint64_t lists_because(const WatchProbe& probe, ListReason reason) {
    return probe.status().lists[static_cast<std::size_t>(reason)];
}

}  // namespace

TEST_CASE("Versions that go back: a bookmark from before the watch is followed by a list") {
    Faults f;
    f.start();
    f.server.apply(pod({.name = "backup"}));
    f.settle();
    const std::string version = f.probe.status().resource_version;
    f.server.send_to_watches("pods", bookmark_at("1"));
    f.settle();
    CHECK(lists_because(f.probe, ListReason::version_went_back) == 1);
    CHECK(f.counters().version_regressions == 1);
    CHECK(f.probe.status().resource_version == version);
    const auto log = f.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], "went back from " + version + " to 1"));
    f.check_recovered();
}

TEST_CASE("Versions that go back: what a restored server has is known, whatever it sends first") {
    const bool streams = GENERATE(true, false);
    WatchOptions options;
    options.watch_list = streams;
    Faults f(options);
    f.start();
    int lists = 0;
    f.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.is_watch() && request.param("sendInitialEvents").empty())
            return Response::never();
        if (request.is_watch()) return Response::failure(422, "Invalid", "no");
        if (request.path == "/version") return std::nullopt;
        ++lists;
        return body(list_of(R"({"metadata":{"name":"backup","namespace":"default"}})", "1"));
    });
    f.server.send_to_watches("pods", bookmark_at("1"));
    f.settle();
    CHECK(lists == 1);
    CHECK(f.probe.names() == Names{"a", "b", "backup"});  // this list has lost many objects
    f.advance(2s);
    CHECK(f.probe.names() == Names{"backup"});
    CHECK(f.probe.status().resource_version == "1");
}

TEST_CASE("Versions that go back: an object from before the watch is followed by a probe") {
    Faults f;
    f.start();
    f.server.send_to_watches("pods", event_at("ADDED", "old", "1"));
    f.settle();
    CHECK(f.probe.names() == Names{"a", "b", "old"});  // it counts
    f.advance(3s);
    CHECK(f.counters().probes == 1);
    CHECK(f.counters().version_regressions == 0);
    CHECK(f.counters().lists == 2);  // later events may be equally old
    CHECK(f.probe.names() == Names{"a", "b"});
    // This server always behaves like this.
    f.server.send_to_watches("pods", event_at("ADDED", "other", "1"));
    f.advance(3s);
    CHECK(f.probe.names() == Names{"a", "b", "other"});
    CHECK(f.counters().probes == 1);
    f.server.send_to_watches("pods", event_at("DELETED", "other", "1"));
    f.advance(3s);
    CHECK(f.server.open_watches() == 1);
    f.check_recovered();
}

TEST_CASE("Versions that go back: an object from before the watch gives a restored server away") {
    Faults f;
    f.start();
    f.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.is_watch()) return Response::never();
        return body(list_of(R"({"metadata":{"name":"a","namespace":"default"}},)"
                            R"({"metadata":{"name":"b","namespace":"default"}},)"
                            R"({"metadata":{"name":"backup","namespace":"default"}})",
                            "2"));
    });
    f.server.send_to_watches("pods", event_at("ADDED", "old", "1"));
    f.advance(3s);
    CHECK(lists_because(f.probe, ListReason::version_went_back) == 1);
    CHECK(f.counters().version_regressions == 1);
    CHECK(f.probe.names() == Names{"a", "b", "backup"});
}

TEST_CASE("Versions that go back: versions that are no numbers are followed as they come") {
    Faults f;
    f.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.is_watch()) return std::nullopt;
        return body(list_of(R"({"metadata":{"name":"a","namespace":"default"}})", "e5-x"));
    });
    f.server.set_intercept({});
    f.start();
    for (const char* version : {"z9", "b2", "a"}) {
        f.server.send_to_watches("pods", bookmark_at(version));
        f.settle();
        CHECK(f.probe.status().resource_version == version);
    }
    CHECK(f.counters().version_regressions == 0);
    CHECK(f.counters().lists == 1);
}
