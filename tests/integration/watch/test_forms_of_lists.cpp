#include "integration/watch/url_watcher_faults.hpp"
#include "support/contains.hpp"
#include "support/gzip.hpp"
#include "support/protobuf_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
namespace protobuf = k8s_sd::test::protobuf_documents;

// A list succeeds if any form of it does: streamed, in pages, in one piece, in either encoding.

namespace {

using sim::Request;
using Answer = std::function<std::optional<Response>(const Request&)>;

bool is_streamed(const Request& request) { return !request.param("sendInitialEvents").empty(); }
bool is_paged(const Request& request) { return !request.param("limit").empty(); }
bool asks_for_protobuf(const Request& request) {
    return contains(std::string(*request.header("Accept")), "vnd.kubernetes.protobuf");
}

/// A server with the pods a and b, and watchers with the default options.
struct Forms : Simulation {
    explicit Forms(sim::ApiServerOptions server_options = {}) : Simulation(server_options) {
        for (const char* name : {"a", "b"}) server.apply(pod({.name = name}));
        client = WatchProbe::client_of(*this);
    }
    WatchProbe& watch(Kind kind = Kind::pod, const WatchOptions& options = {}) {
        probes.push_back(
            std::make_unique<WatchProbe>(*this, client, WatchQuery{kind, {}, {}, {}}, options));
        probes.back()->start();
        return *probes.back();
    }
    /// Answers requests of that form with the response.
    void answer(bool (*form)(const Request&), const Response& response) {
        server.set_intercept([form, response](const Request& request) {
            return form(request) ? std::optional(response) : std::nullopt;
        });
    }
    std::size_t count(bool (*form)(const Request&)) {
        std::size_t found = 0;
        for (const auto& record : server.requests()) found += form(record.request) ? 1U : 0U;
        return found;
    }
    /// The watch has been open for minutes, then its version expires, and c is new.
    void expire() {
        advance(6min);
        server.clear_requests();
        server.end_watches();
        settle();
        server.apply(pod({.name = "c"}));
        server.fail_next(Response::failure(410, "Expired", "too old resource version"));
    }

    std::shared_ptr<ApiClient> client;
    std::vector<std::unique_ptr<WatchProbe>> probes;
};

Response busy(unsigned status, const std::string& seconds) {
    Response response = Response::failure(status, "TooManyRequests", "later");
    response.headers.emplace_back("Retry-After", seconds);
    return response;
}

/// Whether the server says that it is overloaded.
bool is_busy(const Response& response) {
    return response.status == 429 || !response.headers.empty();
}

std::vector<Response> failures() {
    std::vector<Response> found{Response::disconnect(), Response::never(), busy(503, "5"),
                                body("", "text/html")};
    for (const unsigned status : {400U, 403U, 404U, 405U, 408U, 410U, 429U, 500U, 501U, 502U, 503U})
        found.push_back(Response::failure(status, "Reason", "no"));
    found.push_back(body(R"({"kind":"PodList","meta)"));
    return found;
}

}  // namespace

TEST_CASE("Forms of lists: a gateway that lets no streamed list through delays the first state by "
          "less than a minute, once") {
    for (const Response& failure : failures()) {
        CAPTURE(failure.status, failure.hang, failure.drop, failure.body);
        Forms f;
        f.answer(is_streamed, failure);
        const WatchProbe& probe = f.watch();
        f.advance(20s);
        CHECK(probe.synced == 1);
        CHECK(probe.names() == Names{"a", "b"});
        CHECK_FALSE(probe.status().error);
        CHECK(f.count(is_streamed) <= 2);
        f.server.clear_requests();
        if (is_busy(failure)) continue;
        f.watch(Kind::service);  // the client remembers it
        CHECK(f.count(is_streamed) == 0);
    }
}

TEST_CASE("Forms of lists: a relist has another form, too") {
    for (const Response& failure : failures()) {
        CAPTURE(failure.status, failure.hang, failure.drop, failure.body);
        Forms f;
        const WatchProbe& probe = f.watch();
        f.answer(is_streamed, failure);
        f.expire();
        f.advance(25s);
        CHECK(probe.names() == Names{"a", "b", "c"});
        CHECK_FALSE(probe.status().error);
    }
}

TEST_CASE("Forms of lists: what is not served in one piece comes in pages, and the reverse") {
    const bool pages_fail = GENERATE(false, true);
    for (const Response& failure : failures()) {
        if (failure.status == 404) continue;  // means that the API does not exist
        CAPTURE(failure.status, failure.hang, failure.drop, failure.body);
        Forms f;
        f.server.set_intercept([&](const Request& request) -> std::optional<Response> {
            if (request.is_watch() || is_paged(request) != pages_fail) return std::nullopt;
            return failure;
        });
        const WatchProbe& probe = f.watch(Kind::pod, plain_lists());
        f.advance(30s);
        CHECK(probe.synced == 1);
        f.expire();
        f.advance(30s);
        CHECK(probe.names() == Names{"a", "b", "c"});
        CHECK_FALSE(probe.status().error);
    }
}

TEST_CASE("Forms of lists: what refuses protobuf is asked for JSON, whatever it says") {
    for (const Response& failure : failures()) {
        if (failure.status == 404 || is_busy(failure)) continue;
        CAPTURE(failure.status, failure.hang, failure.drop, failure.body);
        Forms f;
        f.answer(asks_for_protobuf, failure);
        const WatchProbe& probe = f.watch();
        f.advance(60s);
        CHECK(probe.synced == 1);
        CHECK(probe.names() == Names{"a", "b"});
        CHECK(f.metrics->of(Kind::pod).json_fallbacks == 1);
        f.server.clear_requests();
        f.watch();
        CHECK(f.count(asks_for_protobuf) == 0);  // the client remembers it
        f.advance(1min);
        f.server.apply(pod({.name = "c"}));
        f.settle();
        CHECK(probe.names() == Names{"a", "b", "c"});
    }
}

TEST_CASE("Forms of lists: a server that is overloaded is asked in the same forms afterwards") {
    const std::string retry_after = GENERATE("", "1", "7");
    const unsigned status = GENERATE(429U, 503U);
    if (status == 503 && retry_after.empty()) return;  // a proxy without a server
    Response failure = Response::failure(status, "TooManyRequests", "later");
    if (!retry_after.empty()) failure = busy(status, retry_after);
    CAPTURE(status, retry_after);
    Forms f;
    WatchOptions options;
    options.gzip = GENERATE(Compression::automatic, Compression::always);
    int refused = 0;
    f.server.set_intercept(
        [&](const Request&) { return ++refused > 3 ? std::nullopt : std::optional(failure); });
    const WatchProbe& probe = f.watch(Kind::pod, options);
    f.advance(70s);
    CHECK(probe.synced == 1);
    CHECK(f.metrics->of(Kind::pod).json_fallbacks == 0);
    f.expire();
    f.advance(5s);
    CHECK(probe.names() == Names{"a", "b", "c"});
    const Request list = f.server.requests().at(1).request;  // after the watch that expired
    CHECK(asks_for_protobuf(list));
    const bool compressed = options.gzip == Compression::always;
    CHECK(is_streamed(list));
    CHECK((list.header("Accept-Encoding").value_or("") == "gzip") == compressed);
}

TEST_CASE("Forms of lists: a server without watch-lists is asked once, not by each watch") {
    Forms f(sim::ApiServerOptions{.watch_list = false});
    for (int i = 0; i < 31; ++i) f.watch(i % 2 == 0 ? Kind::pod : Kind::service);
    for (const auto& probe : f.probes) CHECK(probe->synced == 1);
    CHECK(f.count(is_streamed) == 1);
}

TEST_CASE("Forms of lists: after a restart without watch-lists one watch is refused, not each") {
    const bool busy_lists = GENERATE(false, true);
    Forms f;
    for (int i = 0; i < 31; ++i) f.watch();
    CHECK(f.count(is_streamed) == 31);
    f.advance(6min);
    f.server.clear_requests();
    // The new server has forgotten the history, and its caches are empty for a while.
    const TimePoint filled = f.clock->now() + (busy_lists ? 20s : 0s);
    f.server.set_intercept([&f, filled](const Request& request) -> std::optional<Response> {
        if (is_streamed(request)) return Response::failure(422, "Invalid", "forbidden");
        if (request.path == "/version" || f.clock->now() >= filled) return std::nullopt;
        Response response =
            Response::failure(429, "TooManyRequests", "storage is (re)initializing");
        response.headers.emplace_back("Retry-After", "1");
        return response;
    });
    const TimePoint restarted = f.clock->now();
    f.server.disconnect_all();
    f.settle();
    f.server.apply(pod({.name = "c"}));
    f.server.compact();
    f.advance(2min);
    for (const auto& probe : f.probes) {
        CHECK_FALSE(probe->status().error);
        CHECK(probe->status().last_list > restarted);
    }
    // Streams are the last resort while other lists fail.
    CHECK(f.count(is_streamed) <= (busy_lists ? 13 : 1));
    CHECK(f.metrics->of(Kind::pod).too_many_requests == 0);
    for (const std::string& line : f.take_log()) CHECK_FALSE(contains(line, "429"));
}

TEST_CASE("Forms of lists: a trial of streams that proves nothing is followed by another one") {
    Forms f;
    for (int i = 0; i < 31; ++i) f.watch();
    f.advance(6min);
    f.server.clear_requests();
    int streams = 0;
    f.server.set_intercept([&streams](const Request& request) -> std::optional<Response> {
        if (!is_streamed(request)) return std::nullopt;
        if (++streams == 1) return Response::failure(500, "InternalError", "starting");
        return Response::failure(422, "Invalid", "forbidden");
    });
    f.server.disconnect_all();
    f.settle();
    f.server.apply(pod({.name = "c"}));
    f.server.compact();
    f.advance(2min);
    for (const auto& probe : f.probes) CHECK_FALSE(probe->status().error);
    CHECK(f.count(is_streamed) <= 3);
}

TEST_CASE("Forms of lists: streams are tried again once the server reports another version") {
    Forms f;
    std::string version = "v1.33.0";
    f.server.set_intercept([&version](const Request& request) -> std::optional<Response> {
        if (request.path == "/version") return body(R"({"gitVersion":")" + version + R"("})");
        if (version == "v1.33.0" && is_streamed(request))
            return Response::failure(422, "Invalid", "forbidden");
        return std::nullopt;
    });
    f.watch();
    f.advance(1h);
    f.watch();
    CHECK(f.count(is_streamed) == 1);
    version = "v1.34.0";
    f.advance(21min);  // watches are reopened every ten minutes
    f.watch();
    CHECK(f.count(is_streamed) == 2);
    CHECK(f.probes.back()->status().streamed_lists == 1);
}

TEST_CASE("Forms of lists: a server that reports another version each time is asked for a stream "
          "every ten minutes at most") {
    Forms f;
    std::size_t versions = 0;
    f.server.set_intercept([&versions](const Request& request) -> std::optional<Response> {
        if (request.path == "/version")
            return body(R"({"gitVersion":"v1.)" + std::to_string(++versions) + R"("})");
        if (is_streamed(request)) return Response::failure(422, "Invalid", "forbidden");
        return std::nullopt;
    });
    for (int i = 0; i < 31; ++i) f.watch();
    for (int i = 0; i < 12; ++i) {
        f.advance(5min);
        f.server.disconnect_all();
        f.settle();
        f.server.apply(pod({.name = "c", .labels = {{"i", std::to_string(i)}}}));
        f.server.compact();
    }
    f.advance(1min);
    for (const auto& probe : f.probes) CHECK_FALSE(probe->status().error);
    CHECK(versions <= 7);
    CHECK(f.count(is_streamed) <= 7);
    CHECK(f.count(is_paged) >= 31U * 12U);
}

TEST_CASE("Forms of lists: a test for streams without an answer holds others up for two seconds") {
    Forms f;
    bool first = true;
    f.server.set_intercept([&first](const Request& request) -> std::optional<Response> {
        if (is_streamed(request) && std::exchange(first, false)) return Response::never();
        return std::nullopt;
    });
    f.watch();
    const WatchProbe& other = f.watch();
    CHECK(other.status().waiting == Waiting::list_budget);
    f.advance(2s);
    CHECK(other.synced == 1);
    CHECK(other.status().streamed_lists == 1);
    f.probes.front().reset();
}

TEST_CASE("Forms of lists: who tests for streams may end, and another one goes on") {
    Forms f;
    bool first = true;
    f.server.set_intercept([&first](const Request& request) -> std::optional<Response> {
        if (is_streamed(request) && std::exchange(first, false)) return Response::never();
        return std::nullopt;
    });
    f.watch();
    const WatchProbe& other = f.watch();
    f.probes.front()->destroy();
    f.settle();
    CHECK(other.synced == 1);
}

TEST_CASE("Forms of lists: a server whose caches stay empty is reported after a minute") {
    Forms f;
    f.answer([](const Request&) { return true; },
             Response::failure(429, "TooManyRequests", "storage is (re)initializing"));
    const WatchProbe& probe = f.watch();
    f.advance(50s);
    CHECK_FALSE(probe.status().error);
    CHECK(f.metrics->of(Kind::pod).too_many_requests == 0);
    CHECK(f.take_log().empty());
    f.advance(90s);
    CHECK(probe.status().error == errc::too_many_requests);
    CHECK(f.metrics->of(Kind::pod).too_many_requests > 0);
    f.server.set_intercept({});
    f.advance(65s);
    CHECK(probe.synced == 1);
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("Forms of lists: a server that ignores sendInitialEvents is sent a LIST, whatever comes "
          "meanwhile") {
    const Duration each = GENERATE(5s, 9s, 20s);
    Forms f(sim::ApiServerOptions{.ignore_initial_events = true});
    const WatchProbe& probe = f.watch();
    for (int i = 0; Duration(i * each) < 60s && probe.synced == 0; ++i) {
        f.server.apply(pod({.name = "new-" + std::to_string(i)}));
        f.advance(each);
    }
    CHECK(probe.synced == 1);
    CHECK(probe.names().size() == f.server.count("pods"));
}

TEST_CASE("Forms of lists: a host that is busy while a streamed list comes does not lose it") {
    Forms f(sim::ApiServerOptions{.initial_events_end = false, .protobuf = false});
    const WatchProbe& probe = f.watch();
    CHECK(probe.synced == 0);
    // The end of the list arrives while reads are blocked.
    f.server.send_to_watches("pods", R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":)"
                                     R"({"resourceVersion":")" +
                                         f.server.resource_version() +
                                         R"(","annotations":)"
                                         R"({"k8s.io/initial-events-end":"true"}}}})"
                                         "\n");
    f.clock->advance(100s);
    f.settle();
    f.advance(2s);
    CHECK(probe.synced == 1);
    CHECK(probe.status().streamed_lists == 1);
    CHECK(f.server.requests().size() == 1);
}

// --- bodies that contradict their heads
// -----------------------------------------------------

TEST_CASE(
    "Forms of lists: the content type may be missing or another one, the first byte decides") {
    const std::string type = GENERATE("", "text/plain", "application/octet-stream");
    const bool in_protobuf = GENERATE(true, false);
    CAPTURE(type, in_protobuf);
    const std::string list =
        in_protobuf ? protobuf::document(
                          "PodList", protobuf::list({protobuf::object(protobuf::metadata("p"))}))
                    : list_of(R"({"metadata":{"name":"p","namespace":"n"}})");
    Forms f;
    f.server.set_intercept([&](const Request& request) -> std::optional<Response> {
        return request.is_watch() ? std::nullopt : std::optional(body(list, type));
    });
    const WatchProbe& probe = f.watch(Kind::pod, plain_lists());
    CHECK(probe.names() == Names{"p"});
    CHECK(probe.synced == 1);
    CHECK_FALSE(probe.status().error);
    CHECK(f.metrics->of(Kind::pod).json_fallbacks == 0);
}

TEST_CASE("Forms of lists: events may have another content type as well") {
    Forms f(json_server());
    f.server.set_intercept([&](const Request& request) -> std::optional<Response> {
        if (!request.is_watch()) return std::nullopt;
        Response stream = body(R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"w",)"
                               R"("namespace":"default","resourceVersion":"900"}}})"
                               "\n",
                               "text/plain");
        stream.framing = Response::Framing::chunked;
        return stream;
    });
    const WatchProbe& probe = f.watch(Kind::pod, plain_lists());
    CHECK(probe.names() == Names{"a", "b", "w"});
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("Forms of lists: a web page is reported as one, with any content type") {
    const std::string type = GENERATE("text/html", "text/plain");
    Forms f;
    f.server.set_intercept([&](const Request&) { return body("<html></html>", type); });
    const WatchProbe& probe = f.watch();
    CHECK(probe.status().error == errc::unexpected_content_type);
    CHECK(contains(probe.status().message, type));
}

TEST_CASE("Forms of lists: what is compressed without being asked for is unpacked") {
    const Kind kind = GENERATE(Kind::pod, Kind::secret);
    Forms f(json_server());
    const auto compressed = [](const std::string& text) {
        Response response = body(gzip(text));
        response.headers.emplace_back("Content-Encoding", "gzip");
        return response;
    };
    const std::string name(kind == Kind::pod ? "Pod" : "Secret");
    f.server.set_intercept([&](const Request& request) -> std::optional<Response> {
        if (!request.is_watch())
            return compressed(R"({"kind":")" + name +
                              R"(List","metadata":{"resourceVersion":"9"},"items":[)"
                              R"({"metadata":{"name":"p","namespace":"n"}}]})");
        Response stream = compressed(R"({"type":"ADDED","object":{"kind":")" + name +
                                     R"(","metadata":{"name":"q","namespace":"n",)"
                                     R"("resourceVersion":"12"}}})"
                                     "\n");
        stream.framing = Response::Framing::chunked;
        return stream;
    });
    const WatchProbe& probe = f.watch(kind, plain_lists());
    CHECK(probe.names() == Names{"p", "q"});
    CHECK_FALSE(probe.status().error);
}

// --- probes and confirmations
// ---------------------------------------------------------------------

TEST_CASE("Forms of lists: a probe of a server that ignores the limit ends with the version") {
    Forms f(json_server());
    for (int i = 0; i < 300; ++i) f.server.apply(pod({.name = "p" + std::to_string(i)}));
    const WatchProbe& probe = f.watch(Kind::pod, plain_lists());
    f.advance(2min);
    std::string items = R"({"metadata":{"name":"p","namespace":"n"}})";
    for (int i = 0; i < 300; ++i)
        items += R"(,{"metadata":{"name":"q)" + std::to_string(i) + R"(","namespace":"n"}})";
    f.server.set_intercept([&](const Request& request) -> std::optional<Response> {
        if (request.param("limit") != "1") return std::nullopt;
        return body(list_of(items, "100000"));
    });
    f.server.disconnect_all();
    f.advance(3s);
    CHECK_FALSE(probe.status().error);
    CHECK(probe.status().waiting == Waiting::events);
    CHECK(f.metrics->of(Kind::pod).probes == 1);
    CHECK(f.metrics->of(Kind::pod).lists == 1);
}

TEST_CASE("Forms of lists: probes that are not answered keep a watch waiting for 25 s") {
    Forms f;
    const WatchProbe& probe = f.watch();
    f.advance(2min);
    f.server.set_intercept([](const Request& request) {
        return request.param("limit") == "1" ? std::optional(Response::never()) : std::nullopt;
    });
    f.server.disconnect_all();
    f.settle();
    f.server.apply(pod({.name = "c"}));
    f.advance(27s);
    CHECK(probe.names() == Names{"a", "b", "c"});
}

TEST_CASE("Forms of lists: what cut lists have brought is nothing that a first list can lose") {
    Forms f;
    int lists = 0;
    f.server.set_intercept([&](const Request& request) -> std::optional<Response> {
        if (request.is_watch() || ++lists > 2) return std::nullopt;
        Response cut = body(list_of(R"({"metadata":{"name":"x","namespace":"n"}},)"
                                    R"({"metadata":{"name":"y","namespace":"n"}},)"
                                    R"({"metadata":{"name":"z","namespace":"n"}},)"));
        cut.cut_after = cut.body.size() - 3;
        return cut;
    });
    const WatchProbe& probe = f.watch(Kind::pod, plain_lists());
    f.advance(8s);
    CHECK(probe.synced == 1);
    CHECK(probe.names() == Names{"a", "b"});
    CHECK(f.metrics->of(Kind::pod).suspicious_lists == 0);
}

TEST_CASE("Forms of lists: an outage before does not delay the confirmation of a list") {
    Forms f;
    const WatchProbe& probe = f.watch(Kind::pod, plain_lists());
    f.advance(6min);
    f.server.set_intercept([&](const Request& request) -> std::optional<Response> {
        return Response::failure(request.is_watch() ? 410 : 503, "Reason", "no");
    });
    f.server.end_watches();
    f.advance(5min);  // pauses have grown
    for (const char* name : {"a", "b"}) f.server.remove("pods", "default", name);
    f.server.set_intercept({});
    while (f.metrics->of(Kind::pod).suspicious_lists == 0) f.advance(100ms);
    f.advance(1700ms);
    CHECK(probe.names().empty());
}
