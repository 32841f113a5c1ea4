#include "integration/watch/url_watcher_faults.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/plain_lists.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <filesystem>
#include <new>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

// --- an observer that throws ---------------------------------------------------------------------

TEST_CASE("URLWatcher: a version counts once its object is stored") {
    Faults f;
    f.start();
    f.probe.after_change = [&] {
        f.probe.after_change = nullptr;
        throw std::bad_alloc();
    };
    f.server.apply(pod({.name = "c"}));
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    f.server.disconnect_all();
    f.settle();
    f.take_requests();
    f.advance(10min);  // the broken read has no end but a timeout
    const Texts requests = f.take_requests();
    const auto watch = std::find_if(requests.begin(), requests.end(),
                                    [](const auto& text) { return text.starts_with("WATCH"); });
    REQUIRE(watch != requests.end());
    CHECK(*watch == "WATCH /api/v1/pods from " + f.version);
    f.check_recovered();
}

// --- an expired version --------------------------------------------------------------------------

TEST_CASE("URLWatcher: an expired version makes it list again at once") {
    Faults f;
    f.start();
    SECTION("reported by a status") {
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
    SECTION("reported by an event") {
        f.server.send_to_watches(
            "pods", R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},)"
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

TEST_CASE("URLWatcher: version 0 names no state, so no watch begins there") {
    Faults f;
    f.start();
    f.server.send_to_watches(
        "pods", R"({"type":"ADDED","object":{"metadata":{"name":"c","namespace":"default",)"
                R"("uid":"c","resourceVersion":"0"}}})"
                "\n"
                R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"0"}}})"
                "\n");
    f.settle();
    CHECK(f.probe.take_changes() == "+c");
    f.server.end_watches();
    f.advance(10s);
    const Texts requests = f.take_requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0] == "WATCH /api/v1/pods from " + f.version);
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
    WatchOptions options = plain_lists();
    options.page_size = 1;
    Faults f(options);
    f.server.apply(pod({.name = "c"}));
    f.server.set_intercept([](const sim::Request& request) -> std::optional<Response> {
        if (request.param("continue").empty()) return std::nullopt;
        return Response::failure(410, "Expired", "The provided continue parameter is too old");
    });
    f.probe.start();
    for (const sim::RequestRecord& record : f.server.requests())
        CHECK(contains(std::string(*record.request.header("Accept")), "vnd.kubernetes.protobuf"));
    CHECK(f.counters().json_fallbacks == 0);
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
    const Response too_large =
        Response::failure(504, "Timeout", "Timeout: Too large resource version: 900, current: 3");
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
    const std::string& list = requests[requests.size() - 2];
    CHECK(list.starts_with("LIST /api/v1/pods"));
    CHECK_FALSE(contains(list, "resourceVersion"));
    CHECK(f.probe.take_changes().empty());
    f.check_recovered();
}

// --- refusals ------------------------------------------------------------------------------------

TEST_CASE("URLWatcher: a refusal is explained, keeps the objects and is tried again") {
    struct Case {
        unsigned code;
        errc expected;
        std::string advice;
    };
    const auto c = GENERATE(values<Case>({{401, errc::unauthorized, "check the credentials"},
                                          {403, errc::forbidden, "permission to"},
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
    // An API server states a reason; a 403 without one is not from an API server.
    const bool is_one = with_body || c.code != 403;
    CHECK(
        contains(status.message, is_one ? c.advice : "not the answer of a Kubernetes API server"));
    const bool is_marked = c.code == 302 || (!with_body && (c.code == 403 || c.code == 422));
    CHECK(status.foreign_response == is_marked);
    CHECK(contains(status.message, "why it was refused") == with_body);
    CHECK(status.failures >= (c.code == 404 ? 2 : 3));
    CHECK(status.failures == f.server.requests().size());
    CHECK(f.server.requests().size() < 12);
    const Texts log = f.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0] == status.message);
    CHECK(f.probe.take_changes().empty());
    CHECK(f.probe.names().size() == (listing ? 0 : 2));
    CHECK(status.synced == !listing);
    f.check_recovered();
    CHECK_FALSE(f.probe.status().foreign_response);
    CHECK(f.take_log() == Texts{f.server.url() + "/api/v1/pods: works again"});
}

TEST_CASE("URLWatcher: each class of failure has its counter") {
    Faults f;
    f.probe.start();
    const auto refuse = [&](unsigned code) {
        f.advance(35s);
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
    f.advance(35s);
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
    CHECK(f.probe.status().waiting == Waiting::retry_after);
    f.advance(16s);
    CHECK(f.take_requests().empty());
    f.advance(18s);  // with jitter, at most twice as long
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
        {{"99999999", 3630s}, {"99999999999999999999", 2s}, {"-5", 2s}, {"soon", 2s}, {"", 2s}}));
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
        f.advance(1min);
        CHECK_FALSE(contains(f.probe.status().message, "secret"));
    }
    CHECK(next >= 40);
    const Texts log = f.take_log();
    CHECK_FALSE(log.empty());
    for (const std::string& line : log) CHECK_FALSE(contains(line, "secret"));
    f.check_recovered();
}

// --- limits --------------------------------------------------------------------------------------

TEST_CASE("URLWatcher: a list of more objects than may be is an error that names the limit") {
    WatchOptions options = plain_lists();
    options.max_objects = 2;
    Faults f(options);
    f.start();
    f.server.apply(pod({.name = "c"}));
    f.server.apply(pod({.name = "d"}));
    f.server.disconnect_all();
    f.server.compact();
    f.advance(5min);
    CHECK(f.probe.status().error == errc::too_many_objects);
    CHECK(contains(f.probe.status().message, "more than 2 objects; select fewer"));
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(f.take_requests().size() <= 25);
    for (const char* name : {"b", "c", "d"}) f.server.remove("pods", "default", name);
    f.check_recovered();
}

TEST_CASE("URLWatcher: an event of an object more than may be is an error that stays") {
    WatchOptions options = plain_lists();
    options.max_objects = 2;
    Faults f(options);
    f.start();
    f.server.apply(pod({.name = "c"}));
    f.advance(5min);
    CHECK(f.probe.status().error == errc::too_many_objects);
    CHECK(f.probe.names() == Names{"a", "b"});
    f.server.remove("pods", "default", "b");
    f.advance(5min);
    CHECK(f.probe.names() == Names{"a", "c"});
    CHECK_FALSE(f.probe.status().error);
}

TEST_CASE("URLWatcher: at the limit of objects, a list may bring others in place of those it has") {
    WatchOptions options = plain_lists();
    options.max_objects = 2;
    Faults f(options);
    f.start();
    f.server.disconnect_all();
    f.server.remove("pods", "default", "b");
    f.server.apply(pod({.name = "c"}));
    f.server.compact();
    f.advance(2min);
    CHECK(f.probe.names() == Names{"a", "c"});
    CHECK_FALSE(f.probe.status().error);
}
