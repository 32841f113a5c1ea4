#include "integration/watch/url_watcher_faults.hpp"
#include "support/contains.hpp"
#include "support/plain_lists.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <boost/json/serialize.hpp>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

// --- bodies --------------------------------------------------------------------------------------

TEST_CASE("URLWatcher: a list that is cut off is not taken as complete") {
    Faults f;
    f.start();
    const std::string pod_a = boost::json::serialize(pod({.name = "a"}));
    Response cut = body(list_of(pod_a + "," + pod_a));
    cut.framing = GENERATE(Response::Framing::content_length, Response::Framing::chunked,
                           Response::Framing::until_close);
    SECTION("in an object") { cut.cut_after = cut.body.size() - 40; }
    SECTION("behind the last object") { cut.cut_after = cut.body.size() - 1; }
    SECTION("in the header of the list") { cut.cut_after = 20; }
    SECTION("before anything") { cut.cut_after = 0; }
    f.server.end_watches();
    f.settle();
    f.server.fail_next(Response::failure(410, "Expired", "too old"));
    f.server.fail_next(cut);
    f.advance(100ms);
    CHECK(f.probe.status().error == errc::truncated_response);
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.counters().lists == 1);
    CHECK(f.counters().network_errors == 1);
    CHECK_FALSE(contains(f.probe.take_changes(), "-"));
    f.check_recovered();
    CHECK(f.counters().lists == 2);
}

TEST_CASE("URLWatcher: of a list that says its kind at the end nothing is taken before") {
    Faults f;
    f.start();
    const auto kind = GENERATE(as<std::string>(), "PodList", "ServiceList", "");
    CAPTURE(kind);
    auto item = pod({.name = "c"});
    item.erase("kind");
    const Response sorted =
        body(R"({"apiVersion":"v1","items":[)" + boost::json::serialize(item) + R"(],"kind":")" +
             kind + R"(","metadata":{"resourceVersion":"900"}})");
    f.server.end_watches();
    f.settle();
    f.server.fail_next(Response::failure(410, "Expired", "too old"));
    for (int i = 0; i < 2; ++i) f.server.fail_next(sorted);  // the second one confirms the first
    f.advance(3s);
    CHECK(f.probe.names().contains("c") == (kind == "PodList"));
    CHECK(f.probe.names().contains("a") == (kind != "PodList"));
    f.server.compact();
    f.server.disconnect_all();
    f.check_recovered();
}

TEST_CASE("URLWatcher: what is no list is not taken for an empty one") {
    struct Case {
        std::string text, type;
        errc expected;
    };
    const auto c = GENERATE(values<Case>(
        {{"<html>Please log in</html>", "text/html; charset=utf-8", errc::unexpected_content_type},
         {"{}", "text/plain", errc::unexpected_content_type},
         {"k8s", "application/protobuf", errc::truncated_response},
         {"k8s", "application/vnd.kubernetes.protobuf", errc::truncated_response},
         {"<html>", "application/json", errc::malformed_response},
         {"{}", "application/json", errc::malformed_response},
         {"[]", "application/json", errc::malformed_response},
         {"null", "application/json", errc::malformed_response},
         {"\"\"", "application/json", errc::malformed_response},
         {R"({"kind":"Pod","metadata":{"resourceVersion":"5"}})", "application/json",
          errc::malformed_response},
         {R"({"kind":"PodList","metadata":{},"items":[]})", "application/json",
          errc::missing_resource_version},
         {R"({"kind":"PodList","metadata":{"resourceVersion":""},"items":[]})", "application/json",
          errc::missing_resource_version},
         {list_of("", "0"), "application/json", errc::missing_resource_version},
         {list_of("") + list_of(""), "application/json", errc::malformed_response},
         {std::string(300, '['), "application/json", errc::malformed_response},
         {R"({"items":)" + std::string(300, '['), "application/json", errc::malformed_response},
         {"", "application/json", errc::truncated_response}}));
    CAPTURE(c.text, c.type);
    Faults f;
    f.start();
    f.server.end_watches();
    f.settle();
    f.server.fail_next(Response::failure(410, "Expired", "too old"));
    f.server.fail_next(body(c.text, c.type));
    f.advance(100ms);
    CHECK(f.probe.status().error == c.expected);
    CHECK(f.probe.status().message.size() > 30);
    CHECK(f.take_log().size() == 1);
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.probe.take_changes().empty());
    f.check_recovered();
}

TEST_CASE("URLWatcher: servers written in Go may say null for a list without items") {
    Simulation sim;
    Response nothing =
        body(R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":null})");
    sim.server.fail_next(nothing);
    WatchProbe probe(sim);
    probe.start();
    CHECK(probe.synced == 1);
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("URLWatcher: an object of the wrong shape is skipped, not the list") {
    const std::string good = boost::json::serialize(pod({.name = "good"}));
    const auto bad = GENERATE(values<std::string>(
        {R"({"metadata":{"name":"bad","namespace":"default"},"status":"running"})",
         R"({"metadata":{"name":"bad","namespace":"default","labels":[1]}})",
         R"({"metadata":{"name":"bad","namespace":"default"},"spec":{"containers":3}})",
         R"({"metadata":{"namespace":"default"}})", R"({"metadata":{"name":"bad"}})",
         R"({"metadata":null})", R"("text")", "5", "null", "[]", "{}"}));
    CAPTURE(bad);
    Faults f;
    f.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.is_watch()) return std::nullopt;
        return body(list_of(bad + "," + good + "," + bad, f.version));
    });
    f.probe.start();
    CHECK(f.probe.names() == Names{"good"});
    CHECK(f.probe.synced == 1);
    CHECK(f.counters().bad_objects == 2);
    CHECK_FALSE(f.probe.status().error);
    const Texts log = f.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], "skipped the object"));
    f.probe.destroy();
}

TEST_CASE("URLWatcher: an object that turned bad keeps its last good state") {
    const std::string bad = R"({"metadata":{"name":"a","namespace":"default"},"status":"running"})";
    Faults f;
    f.start();
    SECTION("in a list") {
        const std::string pod_b = boost::json::serialize(pod({.name = "b"}));
        const std::string version = f.version;
        f.server.end_watches();
        f.settle();
        f.server.fail_next(Response::failure(410, "Expired", "too old"));
        f.server.fail_next(body(list_of(bad + "," + pod_b, version)));
        f.advance(100ms);
        CHECK(f.counters().lists == 2);
    }
    SECTION("in an event") {
        f.server.send_to_watches("pods", R"({"type":"MODIFIED","object":)" + bad + "}\n");
        f.settle();
    }
    CHECK(f.counters().bad_objects == 1);
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK_FALSE(contains(f.probe.take_changes(), "-"));
    f.probe.destroy();
}

TEST_CASE("URLWatcher: a bad object does not hide that another one is gone") {
    Faults f;
    f.start();
    f.server.end_watches();
    f.settle();
    const std::string pod_a = boost::json::serialize(f.server.get("pods", "default", "a").value());
    f.server.remove("pods", "default", "b");
    f.server.fail_next(Response::failure(410, "Expired", "too old"));
    f.server.fail_next(body(list_of(
        R"({"metadata":{"name":"unknown","namespace":"default"},"status":1},)" + pod_a, "900")));
    f.advance(100ms);
    CHECK(f.counters().lists == 2);
    CHECK(f.probe.names() == Names{"a"});
    CHECK(f.probe.take_changes() == "-b");
    f.probe.destroy();
}

TEST_CASE("URLWatcher: objects beyond the size limit are skipped") {
    WatchOptions options = plain_lists();
    options.max_object_bytes = 2000;
    Faults f(options);
    f.server.apply(pod(
        {.name = "huge", .labels = {{"a", std::string(60, 'x')}, {"b", std::string(3000, 'y')}}}));
    f.probe.start();
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.counters().bad_objects == 1);
    const Texts log = f.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], "default/huge"));
    f.probe.destroy();
}

// --- the stream of a watch -----------------------------------------------------------------------

TEST_CASE("URLWatcher: garbage on a watch is an error, and it goes on behind the last event") {
    Faults f;
    f.start();
    const std::string last = f.server.apply(pod({.name = "c"}));
    f.settle();
    const auto garbage = GENERATE(
        values<std::string>({"garbage\n", "}\n", "\x01\x02\xff\n", "<html>\n", "{\"type\" 1}\n"}));
    CAPTURE(garbage);
    f.server.send_to_watches("pods", garbage);
    f.advance(2s);
    CHECK(f.counters().malformed == 1);
    CHECK(f.take_requests() == Texts{"WATCH /api/v1/pods from " + last});
    CHECK(f.probe.names() == Names{"a", "b", "c"});
    f.check_recovered();
    CHECK(f.counters().lists == 1);
}

TEST_CASE("URLWatcher: half an event is never an event") {
    Faults f;
    f.start();
    const std::string event = R"({"type":"DELETED","object":)" +
                              boost::json::serialize(*f.server.get("pods", "default", "a")) + "}";
    const auto after = GENERATE(sim::ApiServer::After::end, sim::ApiServer::After::drop);
    const std::size_t length = GENERATE_COPY(std::size_t{1}, std::size_t{20}, event.size() - 1);
    CAPTURE(length);
    f.server.send_to_watches("pods", event.substr(0, length), after);
    f.settle();
    f.advance(2s);
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.take_requests() ==
          Texts{"LIST /api/v1/pods?limit=1", "WATCH /api/v1/pods from " + f.version});
    f.check_recovered();
    CHECK(f.counters().lists == 1);
}

TEST_CASE("URLWatcher: an event in pieces is one event") {
    Faults f;
    f.start();
    const std::string event = R"({"type":"DELETED","object":)" +
                              boost::json::serialize(*f.server.get("pods", "default", "a")) +
                              "}\r\n";
    for (std::size_t i = 0; i < event.size(); i += 7) {
        f.server.send_to_watches("pods", event.substr(i, 7));
        f.settle();
    }
    CHECK(f.probe.take_changes() == "-a");
    f.probe.destroy();
}

TEST_CASE("URLWatcher: strange events are skipped") {
    Faults f;
    f.start();
    f.server.send_to_watches("pods", R"({"type":"SOMETHING","object":{"kind":"Pod"}})"
                                     "\n"
                                     "\n\n"
                                     R"({"type":"ADDED"})"
                                     "\n"
                                     R"({"type":"MODIFIED","object":{"kind":"Service","metadata":)"
                                     R"({"name":"a","namespace":"default"}}})"
                                     "\n");
    f.settle();
    CHECK(f.probe.take_changes().empty());
    CHECK(f.counters().bad_objects == 3);
    CHECK(f.server.open_watches() == 1);
    CHECK(f.take_log().size() == 1);
    f.check_recovered();
}

TEST_CASE("URLWatcher: an error event ends the watch and is explained") {
    Faults f;
    f.start();
    f.server.send_to_watches("pods", R"({"type":"ERROR","object":{"kind":"Status","code":500,)"
                                     R"("message":"etcdserver: mvcc trouble"}})"
                                     "\n");
    f.settle();
    CHECK(f.probe.status().error == errc::server_error);
    CHECK(contains(f.probe.status().message, "etcdserver: mvcc trouble"));
    CHECK(f.server.open_watches() == 0);
    f.advance(2s);
    CHECK(f.take_requests() == Texts{"WATCH /api/v1/pods from " + f.version});
    f.check_recovered();
}

TEST_CASE("URLWatcher: watches that fail again and again make one log line") {
    Faults f;
    f.start();
    std::size_t lines = 1;
    SECTION("with garbage") { f.answer_watches(body("garbage")); }
    SECTION("with other JSON") { f.answer_watches(body(R"({"object":{}} {"type":5})")); }
    SECTION("with an error event") {
        f.answer_watches(body(R"({"type":"ERROR","object":{"code":500,"message":"no"}})"));
    }
    SECTION("with a refusal, while lists work") {
        f.answer_watches(Response::failure(400, "BadRequest", "unknown parameter"));
        lines = 2;  // one more line: that it polls
    }
    SECTION("with a web page") { f.answer_watches(body("<html>", "text/html")); }
    f.server.disconnect_all();
    f.advance(300s);
    CHECK(f.take_requests().size() >= 8);
    CHECK(f.take_log().size() == lines);
    CHECK(f.probe.status().error);
    CHECK(f.probe.take_changes().empty());
    f.check_recovered();
    CHECK(f.take_log() == Texts{f.server.url() + "/api/v1/pods: works again"});
}

TEST_CASE("URLWatcher: watches that end at once are slowed down") {
    Faults f;
    f.start();
    Response ended = body("");
    SECTION("complete") {}
    SECTION("broken") { ended = Response::disconnect(); }
    f.answer_watches(ended);
    f.server.disconnect_all();
    f.advance(120s);
    CHECK(f.take_requests().size() <= 20);
    CHECK(f.probe.names() == Names{"a", "b"});
    f.check_recovered();
}

TEST_CASE("URLWatcher: a server that is away is an error until it is back") {
    Faults f;
    f.server.accept_connections(false);
    f.probe.start();
    CHECK(f.probe.status().error == asio::error::connection_refused);
    CHECK(contains(f.probe.status().message, f.server.url()));
    f.advance(60s);
    CHECK(f.counters().network_errors >= 4);
    CHECK(f.counters().network_errors == f.probe.status().failures);
    CHECK(f.take_log().size() == 1);
    f.check_recovered();
}

TEST_CASE("URLWatcher: an idle connection that the server closed is no failure") {
    WatchOptions options = plain_lists();
    options.page_size = 1;
    Faults f(options);
    // The list's second page finds the connection closed.
    f.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.param("continue").empty() || f.counters().bytes_received > 5000)
            return std::nullopt;
        f.server.set_intercept({});
        return Response::disconnect();
    });
    f.probe.start();
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.counters().network_errors == 0);
    CHECK(f.take_log().empty());
    f.check_recovered();
}
