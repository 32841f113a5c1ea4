#include "support/config_fixtures.hpp"
#include "support/objects.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/post.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using sim::Response;

namespace {

using Texts = std::vector<std::string>;
using Names = std::set<std::string>;

/// Two pods, and a watcher of them; every test ends with a check that it has recovered.
struct Faults : Simulation {
    explicit Faults(WatchOptions options = {}, const ApiServerConfig& api_server = {},
                    sim::TransportFaults faults = {})
        : Simulation({}, faults), probe(*this, {}, options, api_server) {
        for (const char* name : {"a", "b"}) version = server.apply(pod({.name = name}));
    }
    void start() {
        probe.start();
        advance(2s);  // the watch has lived long enough to be taken for good
        probe.take_changes();
        take_requests();
        take_log();
    }
    Metrics::PerKind& counters() { return metrics->of(Kind::pod); }
    /// Answers every watch with `response`.
    void answer_watches(const Response& response) {
        server.set_intercept([response](const sim::Request& request) -> std::optional<Response> {
            return request.is_watch() ? std::optional(response) : std::nullopt;
        });
    }
    /// Time passes, faults are over: it must have everything, and follow what happens.
    void check_recovered() {
        server.set_intercept({});
        server.accept_connections(true);
        advance(120s);
        server.apply(pod({.name = "late"}));
        settle();
        CHECK(probe.names().contains("late"));
        CHECK(probe.watcher().size() == server.count("pods"));
        CHECK_FALSE(probe.status().error);
        CHECK(probe.status().message.empty());
        CHECK(probe.status().failures == 0);
        CHECK(server.open_watches() == 1);
        CHECK(server.open_connections() == 1);
    }

    WatchProbe probe;
    std::string version;
};

std::string list_of(const std::string& items, const std::string& version = "900",
                    const std::string& more = {}) {
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + version + "\"" +
           more + R"(},"items":[)" + items + "]}";
}

Response body(std::string text, std::string content_type = "application/json") {
    Response response;
    response.body = std::move(text);
    response.content_type = std::move(content_type);
    return response;
}

/// Answers every connection with the same bytes, whatever is asked.
class RawServer {
 public:
    RawServer(asio::io_context& context, std::string bytes, bool endless = false)
        : bytes_(std::move(bytes)), endless_(endless),
          connector(std::make_shared<sim::MemoryConnector>(
              context.get_executor(),
              [this](std::unique_ptr<ByteStream> stream) { return accept(std::move(stream)); })) {}

    std::size_t connections() const { return streams_.size(); }
    std::size_t sent() const { return sent_; }

 private:
    bool accept(std::unique_ptr<ByteStream> stream) {
        streams_.push_back(std::move(stream));
        ByteStream& here = *streams_.back();
        here.async_read_some(asio::buffer(input_),
                             [this, &here](error_code, std::size_t) { write(here); });
        return true;
    }
    void write(ByteStream& stream) {
        stream.async_write(asio::buffer(bytes_), [this, &stream](error_code ec, std::size_t size) {
            sent_ += size;
            if (ec || !endless_) return stream.close();
            write(stream);
        });
    }

    std::string bytes_;
    bool endless_;
    char input_[4096];
    std::size_t sent_ = 0;
    std::vector<std::unique_ptr<ByteStream>> streams_;

 public:
    std::shared_ptr<sim::MemoryConnector> connector;
};

/// A watcher whose server is a RawServer.
struct RawFaults : Simulation {
    explicit RawFaults(std::string bytes, bool endless = false)
        : raw(context, std::move(bytes), endless) {
        Environment env = environment();
        env.connector = raw.connector;
        client = std::make_shared<ApiClient>(context.get_executor(),
                                             ApiServerConfig{.url = "http://raw.invalid"}, env);
        watcher.emplace(client, WatchQuery{}, WatchOptions{}, observer);
        watcher->start();
        settle();
    }
    struct Observer final : WatchObserver {
        void on_change(const ObjectChange&) override { ++changes; }
        void on_synced() override { ++synced; }
        void on_batch_end() override {}
        void on_status() override {}
        int changes = 0, synced = 0;
    };
    RawServer raw;
    Observer observer;
    std::shared_ptr<ApiClient> client;
    std::optional<URLWatcher> watcher;
};

}  // namespace

// --- an expired version ---------------------------------------------------------------------------

TEST_CASE("URLWatcher: an expired version makes it list again at once") {
    Faults f;
    f.start();
    SECTION("told by a status") {
        f.server.end_watches();
        f.settle();
        f.server.fail_next(Response::failure(410, "Expired", "too old resource version"));
        f.advance(100ms);
        const Texts requests = f.take_requests();
        REQUIRE(requests.size() == 3);
        CHECK(requests[0] == "WATCH /api/v1/pods from " + f.version);
        CHECK(requests[1] == "LIST /api/v1/pods?resourceVersion=" + f.version +
                                 "&resourceVersionMatch=NotOlderThan");
        CHECK(requests[2].starts_with("WATCH"));
    }
    SECTION("told by an event") {
        f.server.send_to_watches(
            "pods",
            R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},)"
            R"("status":"Failure","message":"too old resource version","reason":"Expired",)"
            R"("code":410}})"
            "\n");
        f.settle();
        const Texts requests = f.take_requests();
        REQUIRE(requests.size() == 2);
        CHECK(requests[0].starts_with("LIST"));
        CHECK(requests[1].starts_with("WATCH"));
    }
    CHECK(f.counters().expired == 1);
    CHECK(f.probe.take_changes().empty());
    CHECK_FALSE(f.probe.status().error);
    CHECK(f.take_log().empty());
    f.check_recovered();
}

TEST_CASE("URLWatcher: versions that keep expiring do not make it list in a loop") {
    Faults f;
    f.start();
    f.answer_watches(Response::failure(410, "Gone", "too old resource version"));
    f.server.disconnect_all();
    f.advance(120s);
    const Texts requests = f.take_requests();
    const auto lists = std::count_if(requests.begin(), requests.end(),
                                     [](const auto& text) { return text.starts_with("LIST"); });
    CHECK(lists >= 3);
    CHECK(lists <= 12);
    CHECK(requests.size() <= 26);
    CHECK(f.probe.take_changes().empty());
    CHECK(f.probe.names() == Names{"a", "b"});
    f.check_recovered();
}

TEST_CASE("URLWatcher: a continue token that expires makes it list in one piece") {
    WatchOptions options;
    options.page_size = 1;
    Faults f(options);
    f.server.apply(pod({.name = "c"}));
    f.server.set_intercept([](const sim::Request& request) -> std::optional<Response> {
        if (request.param("continue").empty()) return std::nullopt;
        return Response::failure(410, "Expired", "The provided continue parameter is too old");
    });
    f.probe.start();
    const Texts requests = f.take_requests();
    REQUIRE(requests.size() == 4);
    CHECK(requests[0] == "LIST /api/v1/pods?limit=1");
    CHECK(requests[1].find("continue=") != std::string::npos);
    CHECK(requests[2] == "LIST /api/v1/pods");
    CHECK(requests[3].starts_with("WATCH"));
    CHECK(f.probe.names() == Names{"a", "b", "c"});
    CHECK(f.probe.synced == 1);
    f.check_recovered();
}

TEST_CASE("URLWatcher: a version from the server's future gives way to its most recent state") {
    Faults f;
    f.start();
    const Response too_large = Response::failure(
        504, "Timeout", "Timeout: Too large resource version: 900, current: 3");
    f.server.end_watches();
    f.settle();
    f.server.fail_next(too_large);
    SECTION("when it watches") {}
    SECTION("when it lists because its version has expired") {
        f.server.fail_next(Response::failure(410, "Expired", "too old"));
        f.server.fail_next(too_large);
    }
    f.advance(5s);
    const Texts requests = f.take_requests();
    REQUIRE(requests.size() >= 3);
    CHECK(requests[requests.size() - 2] == "LIST /api/v1/pods?limit=500");
    CHECK(f.probe.take_changes().empty());
    f.check_recovered();
}

// --- refusals -------------------------------------------------------------------------------------

TEST_CASE("URLWatcher: a refusal is explained, keeps the objects and is tried again") {
    struct Case {
        unsigned code;
        errc expected;
        std::string advice;
    };
    const auto c = GENERATE(values<Case>({{401, errc::unauthorized, "check the credentials"},
                                          {403, errc::forbidden, "list and watch on pods (RBAC)"},
                                          {404, errc::not_found, "has no such API"},
                                          {422, errc::bad_request, "HTTP 422"},
                                          {429, errc::too_many_requests, "HTTP 429"},
                                          {500, errc::server_error, "HTTP 500"},
                                          {503, errc::server_error, "HTTP 503"},
                                          {302, errc::unexpected_status, "HTTP 302"}}));
    const bool listing = GENERATE(true, false);
    const bool with_body = GENERATE(true, false);
    CAPTURE(c.code, listing, with_body);
    Faults f;
    if (!listing) f.start();
    Response refusal = Response::failure(c.code, "Reason", "why it was refused");
    if (!with_body) refusal.body = refusal.content_type = "";
    f.server.set_intercept([refusal](const auto&) { return refusal; });
    listing ? f.probe.start() : f.server.disconnect_all();
    f.advance(40s);

    const WatchStatus status = f.probe.status();
    CHECK(status.error == c.expected);
    CHECK(contains(status.message, f.server.url() + "/api/v1/pods: "));
    CHECK(contains(status.message, "HTTP " + std::to_string(c.code)));
    CHECK(contains(status.message, c.advice));
    CHECK(contains(status.message, "why it was refused") == with_body);
    CHECK(status.failures >= 3);
    CHECK(status.failures == f.server.requests().size());
    CHECK(f.server.requests().size() < 12);
    const Texts log = f.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0] == status.message);
    CHECK(f.probe.take_changes().empty());
    CHECK(f.probe.names().size() == (listing ? 0 : 2));
    CHECK(status.synced == !listing);
    f.check_recovered();
    CHECK(f.take_log() == Texts{f.server.url() + "/api/v1/pods: works again"});
}

TEST_CASE("URLWatcher: each class of failure has its counter") {
    Faults f;
    f.probe.start();
    const auto refuse = [&](unsigned code) {
        f.server.end_watches();
        f.settle();
        f.server.fail_next(Response::failure(code, "Reason", "text"));
        f.advance(10s);
    };
    for (const unsigned code : {401U, 403U, 404U, 429U, 500U, 409U}) refuse(code);
    CHECK(f.counters().unauthorized == 1);
    CHECK(f.counters().forbidden == 1);
    CHECK(f.counters().not_found == 1);
    CHECK(f.counters().too_many_requests == 1);
    CHECK(f.counters().server_errors == 1);
    CHECK(f.counters().other_errors == 1);
    CHECK(f.counters().network_errors == 0);
    f.server.disconnect_all();
    f.advance(10s);
    CHECK(f.counters().network_errors == 1);
    f.server.end_watches();
    f.settle();
    f.server.fail_next(body("<html>", "text/html"));
    f.advance(10s);
    CHECK(f.counters().malformed == 1);
    f.check_recovered();
}

TEST_CASE("URLWatcher: waits as long as the server asks for") {
    Faults f;
    f.start();
    f.server.end_watches();
    f.settle();
    Response busy = Response::failure(429, "TooManyRequests", "try again later");
    SECTION("in the header") { busy.headers.emplace_back("Retry-After", "17"); }
    SECTION("in the details of the status") {
        busy.body = R"({"kind":"Status","code":429,"message":"busy",)"
                    R"("details":{"retryAfterSeconds":17}})";
    }
    f.server.fail_next(busy);
    f.advance(100ms);
    CHECK(f.take_requests().size() == 1);
    f.advance(16s);
    CHECK(f.take_requests().empty());
    f.advance(1s);
    CHECK(f.take_requests().size() == 1);
    CHECK(f.counters().too_many_requests == 1);
    f.check_recovered();
}

TEST_CASE("URLWatcher: a Retry-After beyond reason is bounded, a strange one ignored") {
    Faults f;
    f.start();
    f.server.end_watches();
    f.settle();
    Response busy = Response::failure(429, "TooManyRequests", "try again later");
    const auto [value, longest] = GENERATE(table<std::string, Duration>(
        {{"99999999", 3600s}, {"99999999999999999999", 2s}, {"-5", 2s}, {"soon", 2s}, {"", 2s}}));
    CAPTURE(value);
    busy.headers.emplace_back("Retry-After", value);
    f.server.fail_next(busy);
    f.advance(100ms);
    f.take_requests();
    f.advance(longest);
    CHECK(f.take_requests().size() >= 1);
    f.check_recovered();
}

TEST_CASE("URLWatcher: a token that was rotated is used at once after a 401") {
    TemporaryDirectory files;
    ApiServerConfig server;
    server.auth.bearer_token_file = files.write("token", "old-token\n");
    Faults f({}, server);
    f.server.set_token("old-token");
    f.start();
    files.write("token", "new-token");
    f.server.set_token("new-token");
    f.server.end_watches();
    f.advance(100ms);
    const auto requests = f.server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].status == 401);
    CHECK(requests[1].status == 200);
    CHECK(requests[1].request.header("Authorization") == "Bearer new-token");
    CHECK(f.take_log().empty());
    CHECK_FALSE(f.probe.status().error);
    f.check_recovered();
}

TEST_CASE("URLWatcher: a 401 says what is wrong with the token's file") {
    TemporaryDirectory files;
    ApiServerConfig server;
    server.auth.bearer_token_file = files.write("token", "secret-old-token");
    Faults f({}, server);
    f.server.set_token("secret-old-token");
    f.start();
    f.server.set_token("secret-new-token");
    std::filesystem::remove(files.path("token"));
    f.server.end_watches();
    f.advance(70s);
    CHECK(f.probe.status().error == errc::unauthorized);
    CHECK(contains(f.probe.status().message, files.path("token")));
    for (const std::string& line : f.take_log()) CHECK_FALSE(contains(line, "secret"));
    CHECK_FALSE(contains(f.probe.status().message, "secret"));
    files.write("token", "secret-new-token");
    f.check_recovered();
}

TEST_CASE("URLWatcher: without a usable token nothing is sent") {
    TemporaryDirectory files;
    ApiServerConfig server;
    server.auth.bearer_token_file = files.path("token");
    Faults f({}, server);
    f.probe.start();
    f.advance(10s);
    CHECK(f.take_requests().empty());
    CHECK(f.probe.status().error == errc::credentials_unavailable);
    CHECK(contains(f.probe.status().message, files.path("token")));
    CHECK(f.probe.status().failures >= 2);
    CHECK(f.take_log().size() == 1);
    files.write("token", "anything");
    f.check_recovered();
    CHECK(f.probe.synced == 1);
}

TEST_CASE("URLWatcher: secrets reach no text, whatever the server answers") {
    ApiServerConfig server;
    server.auth.bearer_token = "very-secret-token";
    Faults f({}, server);
    const Texts bodies{"", "text", "<html>", R"({"kind":"Status","message":"no"})", "{"};
    unsigned next = 0;
    f.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        CHECK(request.header("Authorization") == "Bearer very-secret-token");
        CHECK_FALSE(contains(request.target, "secret"));
        Response response = body(bodies[next % bodies.size()]);
        response.status = std::vector<unsigned>{200, 400, 401, 403, 404, 429, 500}[next++ % 7];
        return response;
    });
    f.probe.start();
    for (int i = 0; i < 40; ++i) {
        f.advance(30s);
        CHECK_FALSE(contains(f.probe.status().message, "secret"));
    }
    CHECK(next >= 40);
    const Texts log = f.take_log();
    CHECK_FALSE(log.empty());
    for (const std::string& line : log) CHECK_FALSE(contains(line, "secret"));
    f.check_recovered();
}

// --- bodies ---------------------------------------------------------------------------------------

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

TEST_CASE("URLWatcher: what is no list is not taken for an empty one") {
    struct Case {
        std::string text, type;
        errc expected;
    };
    const auto c = GENERATE(values<Case>(
        {{"<html>Please log in</html>", "text/html; charset=utf-8", errc::unexpected_content_type},
         {"{}", "text/plain", errc::unexpected_content_type},
         {"k8s\0\0", "application/vnd.kubernetes.protobuf", errc::unexpected_content_type},
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
    Response nothing = body(R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":null})");
    sim.server.fail_next(nothing);
    WatchProbe probe(sim);
    probe.start();
    CHECK(probe.synced == 1);
    CHECK_FALSE(probe.status().error);
}

TEST_CASE("URLWatcher: an object of the wrong shape is skipped, not the list") {
    const std::string good = boost::json::serialize(pod({.name = "good"}));
    const auto bad = GENERATE(
        values<std::string>({R"({"metadata":{"name":"bad","namespace":"default"},"status":"running"})",
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
    WatchOptions options;
    options.max_object_bytes = 2000;
    Faults f(options);
    f.server.apply(pod({.name = "huge", .labels = {{"a", std::string(60, 'x')},
                                                    {"b", std::string(3000, 'y')}}}));
    f.probe.start();
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.counters().bad_objects == 1);
    const Texts log = f.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], "default/huge"));
    f.probe.destroy();
}

// --- the stream of a watch ------------------------------------------------------------------------

TEST_CASE("URLWatcher: garbage on a watch is an error, and it goes on behind the last event") {
    Faults f;
    f.start();
    const std::string last = f.server.apply(pod({.name = "c"}));
    f.settle();
    const auto garbage = GENERATE(values<std::string>({"garbage\n", "}\n", "\x01\x02\xff\n",
                                                       "<html>\n", "{\"type\" 1}\n"}));
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
    CHECK(f.take_requests() == Texts{"WATCH /api/v1/pods from " + f.version});
    f.check_recovered();
    CHECK(f.counters().lists == 1);
}

TEST_CASE("URLWatcher: an event in pieces is one event") {
    Faults f;
    f.start();
    const std::string event = R"({"type":"DELETED","object":)" +
                              boost::json::serialize(*f.server.get("pods", "default", "a")) + "}\r\n";
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
    f.server.send_to_watches("pods", R"({"type":"SOMETHING","object":{"kind":"Pod"}})" "\n" "\n\n"
                                     R"({"type":"ADDED"})" "\n"
                                     R"({"type":"MODIFIED","object":{"kind":"Service","metadata":)"
                                     R"({"name":"a","namespace":"default"}}})" "\n");
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
    f.server.send_to_watches("pods",
                             R"({"type":"ERROR","object":{"kind":"Status","code":500,)"
                             R"("message":"etcdserver: mvcc trouble"}})" "\n");
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
    SECTION("with garbage") { f.answer_watches(body("garbage")); }
    SECTION("with other JSON") { f.answer_watches(body(R"({"object":{}} {"type":5})")); }
    SECTION("with an error event") {
        f.answer_watches(body(R"({"type":"ERROR","object":{"code":500,"message":"no"}})"));
    }
    SECTION("with a refusal, while lists work") {
        f.answer_watches(Response::failure(400, "BadRequest", "unknown parameter"));
    }
    SECTION("with a web page") { f.answer_watches(body("<html>", "text/html")); }
    f.server.disconnect_all();
    f.advance(300s);
    CHECK(f.take_requests().size() >= 8);
    CHECK(f.take_log().size() == 1);
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
    WatchOptions options;
    options.page_size = 1;
    Faults f(options);
    // The list's second page finds the connection closed.
    f.server.set_intercept([&](const sim::Request& request) -> std::optional<Response> {
        if (request.param("continue").empty() || f.counters().bytes_received > 5000) return std::nullopt;
        f.server.set_intercept({});
        return Response::disconnect();
    });
    f.probe.start();
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.counters().network_errors == 0);
    CHECK(f.take_log().empty());
    f.check_recovered();
}

// --- what is no HTTP ------------------------------------------------------------------------------

TEST_CASE("URLWatcher: answers that are not HTTP are errors, and bounded") {
    struct Case {
        std::string bytes;
        bool endless;
    };
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    const auto c = GENERATE_COPY(values<Case>(
        {{"SSH-2.0-OpenSSH_9.2\r\n", false},
         {"\x15\x03\x01", false},
         {std::string("\0\0\0\0\0\0", 6), false},
         {"HTTP/9.9 abc\r\n\r\n", false},
         {head + "X: " + std::string(70'000, 'x') + "\r\n\r\n", false},
         {head + "Content-Length: 5\r\nContent-Length: 7\r\n\r\n{}", false},
         {head + "Content-Length: -1\r\n\r\n{}", false},
         {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", false},
         {std::string(4096, 'h'), true},
         {"\r\n", true},
         {head + "X: y", true},
         {"HTTP/1.1 100 Continue\r\n\r\n", false},
         {"", false}}));
    CAPTURE(c.bytes.substr(0, 80), c.endless);
    RawFaults f(c.bytes, c.endless);
    CHECK(f.watcher->status().error);
    CHECK(f.watcher->status().message.size() > 20);
    CHECK(f.raw.sent() < 1'000'000);
    f.advance(60s);
    CHECK(f.raw.connections() >= 3);
    CHECK(f.raw.connections() <= 12);
    CHECK(f.observer.synced == 0);
    CHECK(f.take_log().size() == 1);
}

TEST_CASE("URLWatcher: a header beyond 64 KiB has its own error") {
    RawFaults f("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n");
    CHECK(f.watcher->status().error == errc::header_too_large);
}

TEST_CASE("URLWatcher: bodies without end do not fill the memory") {
    SECTION("of the wrong type") {
        RawFaults f("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + std::string(9000, 'x'), true);
        CHECK(f.watcher->status().error == errc::unexpected_content_type);
        CHECK(f.raw.sent() < 1'000'000);
    }
    SECTION("of a refusal") {
        RawFaults f("HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n\r\n" +
                        std::string(9000, 'x'), true);
        CHECK(f.watcher->status().error == errc::forbidden);
        CHECK(f.watcher->status().message.size() < 2000);
        CHECK(f.raw.sent() < 1'000'000);
    }
    SECTION("in the header of a chunk") {
        RawFaults f("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n5;" + std::string(100'000, 'x') +
                    std::string(1'000'000, 'y'));
        CHECK(f.watcher->status().error == errc::header_too_large);
    }
    SECTION("of white space behind the list") {
        RawFaults f("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                    std::to_string(list_of("").size() + 3) + "\r\n\r\n" + list_of("") + " \r\n");
        CHECK(f.observer.synced == 1);
    }
}
