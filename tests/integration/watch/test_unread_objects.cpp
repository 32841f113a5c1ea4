// Unreadable objects: their last known state stays until they are known to be deleted, and the
// status names them.

#include "integration/watch/url_watcher_faults.hpp"
#include "support/contains.hpp"
#include "support/plain_lists.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

WatchOptions small_objects(bool protobuf, bool streamed) {
    WatchOptions options;
    options.max_object_bytes = 2000;
    options.protobuf = protobuf;
    options.watch_list = streamed;
    return options;
}

/// Three pods, and a watcher that accepts only small ones.
struct SmallObjects : Simulation {
    SmallObjects(bool protobuf, bool streamed)
        : probe(*this, {}, small_objects(protobuf, streamed)) {
        for (const char* name : {"a", "b", "c"}) server.apply(pod({.name = name}));
        probe.start();
        advance(2s);
        probe.take_changes();
        take_log();
    }
    void grow(const std::string& name) {
        server.apply(pod({.name = name, .labels = {{"large", std::string(5000, 'x')}}}));
    }
    void shrink(const std::string& name) { server.apply(pod({.name = name})); }
    /// The watcher misses changes of a pod that is gone now, and the server forgets them.
    void list_again() {
        const std::uint64_t lists = metrics->of(Kind::pod).lists;
        server.accept_connections(false);
        server.disconnect_all();
        advance(1s);
        server.apply(pod({.name = "d"}));
        server.remove("pods", "default", "d");
        server.compact();
        server.accept_connections(true);
        advance(60s);
        REQUIRE(metrics->of(Kind::pod).lists > lists);
    }

    WatchProbe probe;
};

const Names all_three{"a", "b", "c"};

}  // namespace

TEST_CASE(
    "URLWatcher: an object that is too large stays as it was, and is an error, until it goes") {
    SmallObjects s(GENERATE(false, true), GENERATE(false, true));
    const int before = s.probe.status_changes;
    s.grow("b");
    s.settle();
    CHECK(s.probe.names() == all_three);
    CHECK(s.probe.status().error == errc::object_too_large);
    CHECK(contains(s.probe.status().message, "default/b; the last known state stays"));
    CHECK(s.probe.status_changes > before);
    const Texts log = s.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], "skipped the object default/b: "));
    s.list_again();
    CHECK(s.probe.names() == all_three);
    CHECK(s.probe.take_changes().empty());
    CHECK(s.probe.status().error == errc::object_too_large);
    SECTION("it is deleted") {
        s.server.remove("pods", "default", "b");
        s.settle();
        CHECK(s.probe.take_changes() == "-b");
    }
    SECTION("it is deleted while no watch is open") {
        s.server.remove("pods", "default", "b");
        s.list_again();
        CHECK(s.probe.take_changes() == "-b");
    }
    SECTION("it becomes smaller") {
        s.shrink("b");
        s.settle();
        CHECK(s.probe.names() == all_three);
    }
    CHECK_FALSE(s.probe.status().error);
    CHECK(s.probe.status().message.empty());
    s.probe.destroy();
}

TEST_CASE("URLWatcher: an object that is too large shows that the one before it is gone") {
    SmallObjects s(GENERATE(false, true), GENERATE(false, true));
    s.server.accept_connections(false);
    s.server.disconnect_all();
    s.advance(1s);
    s.server.remove("pods", "default", "b");
    s.server.apply(
        pod({.name = "b", .labels = {{"large", std::string(5000, 'x')}}, .uid = "another"}));
    s.server.compact();
    s.server.accept_connections(true);
    s.advance(120s);
    CHECK(s.probe.take_changes() == "-b");
    CHECK(s.probe.status().error == errc::object_too_large);
    s.server.apply(pod({.name = "b", .uid = "another"}));
    s.settle();
    CHECK(s.probe.take_changes() == "+b");
    CHECK_FALSE(s.probe.status().error);
    s.probe.destroy();
}

TEST_CASE("URLWatcher: an event of another object of a name shows that, however large") {
    Faults f(small_objects(false, false));
    f.start();
    for (const char* uid : {"", "another"}) {
        f.server.send_to_watches(
            "pods", R"({"type":"MODIFIED","object":{"metadata":{"name":"b","namespace":"default",)"
                    R"("uid":")" +
                        std::string(uid) + R"(","labels":{"large":")" + std::string(5000, 'x') +
                        "\"}}}}\n");
        f.settle();
        CHECK(f.probe.take_changes() == (*uid ? "-b" : ""));
        CHECK(f.probe.status().error == errc::object_too_large);
    }
    f.probe.destroy();
}

TEST_CASE("URLWatcher: a list with a nameless object removes no object") {
    Faults f;
    f.start();
    const std::string pod_a = boost::json::serialize(f.server.get("pods", "default", "a").value());
    const std::string nameless = GENERATE(
        values<std::string>({"null", "{}", R"({"metadata":{"name":"x"}})", R"({"metadata":1})"}));
    f.server.end_watches();
    f.settle();
    f.server.remove("pods", "default", "b");
    f.server.fail_next(Response::failure(410, "Expired", "too old"));
    f.server.fail_next(body(list_of(nameless + "," + pod_a, "900")));
    f.advance(100ms);
    CHECK(f.counters().lists == 2);
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.probe.status().error == errc::bad_object);
    f.server.compact();
    f.server.disconnect_all();
    f.advance(60s);
    CHECK(f.probe.names() == Names{"a"});
    f.check_recovered();
}
