#include "k8s_sd/detail/watch/outcome.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/error.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::detail::outcome_tests {
namespace {

using namespace std::chrono_literals;
using Machine = WatchMachine;

enum class Asked { list, next_page, probe, watch };
constexpr Asked all_requests[] = {Asked::list, Asked::next_page, Asked::probe, Asked::watch};

Exchange exchange(Asked asked, unsigned status = 200, std::string text = {}) {
    Exchange x;
    x.purpose = asked == Asked::watch   ? Purpose::watch
                : asked == Asked::probe ? Purpose::probe
                                        : Purpose::list;
    x.has_position = asked == Asked::next_page || asked == Asked::watch;
    x.status = status;
    x.fields.use().content_type = "application/json";
    x.readable = status == 200;
    x.error_text = std::move(text);
    return x;
}

std::string status_body(const std::string& message, const std::string& details = "{}") {
    return R"({"kind":"Status","reason":"Reason","message":")" + message + R"(","details":)" +
           details + "}";
}

/// "failed", "busy", "busy, wait 5 s", "rejected", "ended, broken", …
std::string words(const Machine::Outcome& outcome) {
    struct {
        std::string operator()(const Machine::PageListed& page) const {
            return "page " + page.resource_version +
                   (page.continue_token.empty() ? "" : ", more " + page.continue_token);
        }
        std::string operator()(const Machine::Suspicious&) const { return "suspicious"; }
        std::string operator()(const Machine::Probed& p) const {
            return "probed " + p.resource_version;
        }
        std::string operator()(const Machine::WatchEnded& end) const {
            return std::string("ended") + (end.in_time ? ", in time" : "") +
                   (end.clean ? "" : ", broken");
        }
        std::string operator()(const Machine::Silent&) const { return "silent"; }
        std::string operator()(const Machine::Failed& failed) const {
            constexpr const char* causes[] = {"unreachable", "no answer",  "busy",   "failed",
                                              "refused",     "cut",        "absent", "not in time",
                                              "not sent",    "credentials"};
            const std::string cause = causes[static_cast<std::size_t>(failed.cause)];
            if (!failed.retry_after) return cause;
            const auto wait = std::chrono::duration_cast<std::chrono::seconds>(*failed.retry_after);
            return cause + ", wait " + std::to_string(wait.count()) + " s";
        }
        std::string operator()(const Machine::Malformed&) const { return "malformed"; }
        std::string operator()(const Machine::Doubted&) const { return "doubted"; }
        std::string operator()(const Machine::WentBack& back) const {
            return "went back to " + back.resource_version;
        }
        std::string operator()(const Machine::Expired&) const { return "expired"; }
        std::string operator()(const Machine::VersionTooLarge&) const { return "too large"; }
        std::string operator()(const Machine::Rejected&) const { return "rejected"; }
        std::string operator()(const Machine::BadPages&) const { return "bad pages"; }
        std::string operator()(const Machine::NotStreamed&) const { return "not streamed"; }
        std::string operator()(const Machine::Moved&) const { return "moved"; }
        std::string operator()(const Machine::NoPermit&) const { return "no permit"; }
        std::string operator()(const Machine::NewCredentials&) const { return "credentials"; }
        std::string operator()(const Machine::AskOtherwise&) const { return "encoding"; }
        std::string operator()(const Machine::OtherServer&) const { return "other server"; }
        std::string operator()(const Machine::Slept&) const { return "slept"; }
    } const visitor;
    return std::visit(visitor, outcome);
}
std::string words(const Verdict& verdict) { return words(verdict.outcome); }

bool says(const Verdict& verdict, std::string_view text) {
    return verdict.failure.message.find(text) != std::string::npos;
}

ExchangeEnd ended(error_code ec, std::string why = "why", Duration life = {}) {
    ExchangeEnd end;
    end.failure = {ec, std::move(why)};
    end.life = life;
    return end;
}

TEST_CASE("judge: what each status of the protocol means, to a list and to a watch") {
    using Counter = Metrics::Counter Metrics::PerKind::*;
    using M = Metrics::PerKind;
    struct Row {
        unsigned status;
        std::string list, next_page, watch;
        errc error;
        Counter counter;
        std::string advice;
    };
    const std::vector<Row> table{
        {101, "failed", "failed", "failed", errc::unexpected_status, &M::other_errors, ""},
        {201, "failed", "failed", "failed", errc::unexpected_status, &M::other_errors, ""},
        {204, "failed", "failed", "failed", errc::unexpected_status, &M::other_errors, ""},
        {301, "failed", "failed", "failed", errc::unexpected_status, &M::other_errors, "redirect"},
        {302, "failed", "failed", "failed", errc::unexpected_status, &M::other_errors, "redirect"},
        {400, "refused", "rejected", "rejected", errc::bad_request, &M::other_errors, "selectors"},
        {401, "credentials", "credentials", "credentials", errc::unauthorized, &M::unauthorized,
         "missing or expired"},
        {403, "refused", "refused", "refused", errc::forbidden, &M::forbidden, "ClusterRole"},
        {404, "absent", "absent", "absent", errc::not_found, &M::not_found, "no such API"},
        {405, "refused", "refused", "refused", errc::unexpected_status, &M::other_errors, ""},
        {406, "refused", "refused", "refused", errc::unexpected_status, &M::other_errors, ""},
        {409, "refused", "refused", "refused", errc::unexpected_status, &M::other_errors, ""},
        {410, "expired", "expired", "expired", errc::expired, &M::expired, "expire"},
        {415, "refused", "refused", "refused", errc::unexpected_status, &M::other_errors, ""},
        {422, "refused", "rejected", "rejected", errc::bad_request, &M::other_errors, "selectors"},
        {429, "busy", "busy", "busy", errc::too_many_requests, &M::too_many_requests, ""},
        {500, "failed", "failed", "failed", errc::server_error, &M::server_errors, ""},
        {502, "no answer", "no answer", "no answer", errc::server_error, &M::server_errors, ""},
        {503, "no answer", "no answer", "no answer", errc::server_error, &M::server_errors, ""},
        {504, "cut", "cut", "cut", errc::server_error, &M::server_errors, ""},
    };
    for (const Row& row : table) {
        for (const Asked asked : all_requests) {
            CAPTURE(row.status, static_cast<int>(asked));
            const Verdict verdict =
                judge(exchange(asked, row.status, status_body("why it was refused")), {});
            const bool is_bad_request = row.status == 400 || row.status == 422;
            CHECK(words(verdict) == (asked == Asked::next_page                 ? row.next_page
                                     : asked == Asked::watch                   ? row.watch
                                     : asked == Asked::probe && is_bad_request ? row.watch
                                                                               : row.list));
            CHECK(verdict.failure.ec == row.error);
            CHECK(says(verdict, row.advice));
            CHECK(verdict.credentials_refused == (row.status == 401));
            // An expired version is no problem to report.
            CHECK(verdict.failed ==
                  (row.status != 410 || asked == Asked::list || asked == Asked::probe));
            if (row.status == 410) continue;
            if (verdict.failed) {
                CHECK(says(verdict, "HTTP " + std::to_string(row.status) + ": why it was refused"));
            }
            Metrics::PerKind metrics;
            CHECK(&failure_counter(metrics, verdict.failure.ec) == &(metrics.*row.counter));
        }
    }
}

TEST_CASE("judge: a server that has just started says so with a 429") {
    for (const Asked asked : all_requests) {
        const auto judged = [&](unsigned status, const std::string& message) {
            return judge(exchange(asked, status, status_body(message)), {});
        };
        CHECK(judged(429, "storage is (re)initializing").starting);
        CHECK(judged(429, "storage is (re)initializing").failed);
        CHECK_FALSE(judged(429, "too many requests").starting);
        CHECK_FALSE(judged(503, "storage is (re)initializing").starting);
    }
}

TEST_CASE("judge: a stream that is not compressed as it has to be is followed by a LIST") {
    Exchange wanted = exchange(Asked::list, 200);
    wanted.streamed = wanted.plain_stream = true;
    const Verdict verdict = judge(wanted, {.failure = {errc::truncated_response, "cut"}});
    REQUIRE(std::holds_alternative<WatchMachine::NotStreamed>(verdict.outcome));
    CHECK_FALSE(std::get<WatchMachine::NotStreamed>(verdict.outcome).tried);
    CHECK_FALSE(verdict.failure.ec);
    CHECK_FALSE(verdict.failed);
    // Its list was complete before this was noticed: a good watch has begun.
    wanted.purpose = Purpose::watch;
    const Verdict later = judge(wanted, {.failure = {errc::truncated_response, "cut"}});
    CHECK_FALSE(std::holds_alternative<WatchMachine::NotStreamed>(later.outcome));
}

TEST_CASE("judge: an ERROR event means what its code means as a status") {
    for (const unsigned code : {0U, 400U, 401U, 403U, 404U, 410U, 422U, 429U, 500U, 503U, 504U}) {
        CAPTURE(code);
        Exchange event = exchange(Asked::watch);
        event.error_event = ServerStatus{};
        event.error_event->code = code;
        event.error_event->reason = "Reason";
        event.error_event->message = "why";
        event.events = 7;
        const Verdict verdict = judge(event, ended(errc::server_error));
        const Verdict refusal =
            judge(exchange(Asked::watch, code == 0 ? 302 : code, status_body("why")), {});
        CHECK(words(verdict) == words(refusal));
        CHECK(verdict.failure.ec == refusal.failure.ec);
        CHECK(verdict.failed == refusal.failed);
        if (code != 0) CHECK(verdict.failure.message == refusal.failure.message);
        CHECK(verdict.credentials_refused == (code == 401));
    }
}

TEST_CASE("judge: an ERROR event without a code means what the code of its reason does") {
    struct Row {
        const char* reason;
        unsigned code;
    };
    constexpr Row rows[] = {{"BadRequest", 400},
                            {"Unauthorized", 401},
                            {"Forbidden", 403},
                            {"NotFound", 404},
                            {"MethodNotAllowed", 405},
                            {"NotAcceptable", 406},
                            {"Expired", 410},
                            {"Gone", 410},
                            {"Invalid", 422},
                            {"TooManyRequests", 429},
                            {"InternalError", 500},
                            {"ServiceUnavailable", 503},
                            {"ServerTimeout", 504},
                            {"Timeout", 504},
                            {"expired", 0},
                            {"SomethingNew", 0}};
    for (const Asked asked : all_requests) {
        for (const Row& row : rows) {
            CAPTURE(row.reason, static_cast<int>(asked));
            const auto judged = [&](unsigned code) {
                Exchange x = exchange(asked);
                x.error_event = ServerStatus{.code = code, .reason = row.reason, .message = "why"};
                return judge(x, ended(errc::server_error));
            };
            const Verdict verdict = judged(0);
            const Verdict expected = judged(row.code);
            CHECK(words(verdict) == words(expected));
            CHECK(verdict.failure.ec == expected.failure.ec);
            CHECK(verdict.failure.message == expected.failure.message);
            CHECK(verdict.failed == expected.failed);
            CHECK(verdict.credentials_refused == (row.code == 401));
            if (row.code == 0 || row.code == 410) continue;
            CHECK(says(verdict, "HTTP " + std::to_string(row.code) + ": why"));
        }
    }
    // A code takes precedence, also one in a refusal.
    Exchange x = exchange(Asked::watch);
    x.error_event = ServerStatus{.code = 410, .reason = "InternalError"};
    CHECK(words(judge(x, {})) == "expired");
    const std::string expired = R"({"reason":"Expired","message":"m"})";
    CHECK(words(judge(exchange(Asked::watch, 503, expired), {})) == "no answer");
}

TEST_CASE("judge: the three shapes of a version from the server's future") {
    const std::string large = "Too large resource version: 9, current: 7";
    const std::string body = GENERATE_COPY(
        status_body(large),
        status_body("Timeout", R"({"causes":[{"reason":"ResourceVersionTooLarge"}]})"),
        status_body("Timeout", R"({"causes":[1,{},{"message":")" + large + "\"}]}"));
    for (const unsigned status : {400U, 500U, 504U}) {
        const Verdict verdict = judge(exchange(Asked::watch, status, body), {});
        CHECK(words(verdict) == "too large");
        CHECK(verdict.failed);
    }
    const ServerStatus events[] = {
        {.code = 504, .message = large},
        {.reason = "Timeout", .causes = {{"Other", "x"}, {"ResourceVersionTooLarge", "x"}}},
        {.code = 504, .causes = {{"", large}}}};
    for (const ServerStatus& status : events) {
        Exchange event = exchange(Asked::watch);
        event.error_event = status;
        CHECK(words(judge(event, ended(errc::server_error))) == "too large");
    }
}

TEST_CASE("judge: only a Status can report a version from the server's future") {
    const std::string large = "Too large resource version: 9, current: 7";
    Exchange page = exchange(Asked::watch, 504, "<html>" + large + "</html>");
    page.fields.use().content_type = "text/html";
    CHECK(words(judge(page, {})) == "cut");
    Exchange other =
        exchange(Asked::watch, 504, status_body("x", R"({"causes":[{"reason":"Other"}]})"));
    CHECK(words(judge(other, {})) == "cut");
    // Readable in spite of its encoding: the message is replaced, the meaning stays.
    Exchange encoded = exchange(Asked::watch, 504, status_body(large));
    encoded.fields.use().content_encoding = "br";
    CHECK(words(judge(encoded, {})) == "too large");
}

TEST_CASE("judge: Retry-After comes from the header or the body, and is an hour at most") {
    struct Row {
        std::optional<Duration> header;
        std::string seconds, expected;
    };
    for (const Row& row :
         {Row{{}, "", ""}, Row{{}, "0", ""}, Row{{}, "-5", ""}, Row{{}, "\"5\"", ""},
          Row{{}, "7", "busy, wait 7 s"}, Row{{}, "3601", "busy, wait 3600 s"},
          Row{{}, "2147483647", "busy, wait 3600 s"},
          // The API uses 32 bits for it: a larger number is ignored.
          Row{{}, "9223372036854775807", ""}, Row{{}, "18446744073709551615", ""},
          Row{3s, "7", "busy, wait 3 s"}, Row{0s, "7", "busy, wait 0 s"},
          Row{24h, "", "busy, wait 3600 s"}}) {
        CAPTURE(row.seconds);
        const std::string details =
            row.seconds.empty() ? "{}" : R"({"retryAfterSeconds":)" + row.seconds + "}";
        for (const unsigned status : {429U, 500U, 503U, 403U}) {
            Exchange x = exchange(Asked::watch, status, status_body("wait", details));
            x.fields.use().retry_after = row.header;
            if (row.expected.empty()) {
                CHECK(words(judge(x, {})).find("wait") == std::string::npos);
            } else {
                CHECK(words(judge(x, {})) == row.expected);
            }
        }
        Exchange event = exchange(Asked::watch);
        event.error_event = ServerStatus{};
        event.error_event->code = 429;
        event.error_event->retry_after_seconds = 4'000'000'000U;
        CHECK(words(judge(event, {})) == "busy, wait 3600 s");
    }
}

TEST_CASE("judge: a 401 names the server's clock and the mistake in the credentials") {
    Exchange x = exchange(Asked::list, 401, status_body("Unauthorized"));
    x.fields.use().date = "Thu, 01 Jan 1970 00:00:00 GMT";
    x.credentials_problem = "bearer_token_file /token: it is empty";
    CHECK(judge(x, {}).failure.message ==
          "HTTP 401: Unauthorized; the server's clock says Thu, 01 Jan 1970 00:00:00 GMT; check "
          "the credentials: they may be missing or expired, or be of another cluster; "
          "bearer_token_file /token: it is empty");
    x.status = 403;
    CHECK_FALSE(says(judge(x, {}), "bearer_token_file"));
}

TEST_CASE("judge: whatever the body of a refusal is, it is a refusal, and its text is one line") {
    const std::vector<std::string> bodies{
        "",
        "{",
        "[]",
        "null",
        "\x01\x02\r\n",
        "<html>\r\n<body>no</body>",
        R"({"message":5})",
        R"({"details":[]})",
        R"({"details":{"causes":{}}})",
        R"({"message":"a\u0000\nb\u007f"})",
        R"({"details":{"causes":[null,5,[],{"reason":5,"message":[]}],"retryAfterSeconds":1e300}})",
        std::string(16'000, '['),
        std::string(16'000, '\xff')};
    for (const std::string& body : bodies) {
        for (const char* type : {"application/json", "text/html", ""}) {
            for (const Asked asked : all_requests) {
                Exchange x = exchange(asked, 503, body);
                x.fields.use().content_type = type;
                const Verdict verdict = judge(x, ended(errc::truncated_response));
                CAPTURE(body.substr(0, 80), type, verdict.failure.message);
                CHECK(words(verdict) == "no answer");
                CHECK(verdict.failure.ec == errc::server_error);
                CHECK(says(verdict, "HTTP 503"));
                CHECK(verdict.failure.message.size() < 600);
                CHECK(verdict.failure.message.find_first_of(std::string("\r\n\x7f\0", 4)) ==
                      std::string::npos);
            }
        }
    }
}

TEST_CASE("judge: a 403 names what is missing, and the rule that grants it") {
    const auto text = [](Kind kind, const std::string& ns, Asked asked) {
        Exchange x = exchange(asked, 403, status_body("no"));
        x.kind = kind;
        x.ns = ns;
        return judge(x, {}).failure.message;
    };
    CHECK(text(Kind::endpointslice, "", Asked::list) ==
          "HTTP 403: no; missing is the permission to list endpointslices (API group "
          "discovery.k8s.io) in all namespaces; grant it with a rule of a ClusterRole: "
          "{apiGroups: [\"discovery.k8s.io\"], resources: [\"endpointslices\"], verbs: "
          "[\"list\", \"watch\"]}");
    CHECK(text(Kind::pod, "shop", Asked::watch) ==
          "HTTP 403: no; missing is the permission to watch pods in the namespace shop; grant it "
          "with a rule of a Role in the namespace shop: {apiGroups: [\"\"], resources: [\"pods\"], "
          "verbs: [\"list\", \"watch\"]}");
    // Nodes are cluster-scoped, regardless of the configured namespaces.
    CHECK(text(Kind::node, "", Asked::probe) ==
          "HTTP 403: no; missing is the permission to list nodes; grant it with a rule of a "
          "ClusterRole: {apiGroups: [\"\"], resources: [\"nodes\"], verbs: [\"list\", "
          "\"watch\"]}");
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        CHECK(text(static_cast<Kind>(kind), std::string(63, 'n'), Asked::watch).size() < 600);
    }
}

TEST_CASE("judge: a 404 of an API that the server says it has is a failure as others") {
    for (const Asked asked : all_requests) {
        Exchange x = exchange(asked, 404, status_body("no"));
        x.fields.use().retry_after = 1h;  // from a server other than an API server
        CHECK(words(judge(x, {})) == "absent");
        x.served = true;
        x.fields.use().retry_after.reset();
        CHECK(words(judge(x, {})) == (asked == Asked::watch ? "failed" : "refused"));
        CHECK(judge(x, {}).failure.ec == errc::not_found);
    }
}

TEST_CASE("judge: a web page is named and not quoted") {
    for (const char* page :
         {"<!DOCTYPE html><html>sesame</html>", " \n<HTML>sesame", "<?xml sesame?>", "<"}) {
        for (const unsigned status : {401u, 403u, 404u, 500u, 503u}) {
            const Verdict verdict = judge(exchange(Asked::list, status, page), {});
            INFO(page << " " << status);
            const std::string start =
                "HTTP " + std::to_string(status) + ": the answer is a web page (HTML)";
            CHECK(verdict.failure.message.starts_with(start));
            CHECK(verdict.failure.message.find("sesame") == std::string::npos);
        }
    }
}

TEST_CASE("judge: the error of a gateway or a cloud is reported, with any content type") {
    const std::string body =
        R"({"error": {"code": 403, "message": "Required \"container.pods.list\" permission.", )"
        R"("status": "PERMISSION_DENIED"}})";
    const Verdict verdict = judge(exchange(Asked::list, 403, body), {});
    CHECK(verdict.failure.message.starts_with(
        "HTTP 403: PERMISSION_DENIED: Required \"container.pods.list\" permission.; "));
    const std::string page = "<html><title>502 Bad Gateway</title>";
    CHECK(judge(exchange(Asked::list, 502, page), {}).failure.message ==
          "HTTP 502: the answer is a web page (HTML) with the title \"502 Bad Gateway\"");
}

TEST_CASE("judge: no message advises to grant rights to anonymous") {
    const Verdict verdict =
        judge(exchange(Asked::list, 403,
                       status_body("pods is forbidden: User \\\"system:anonymous\\\" cannot list")),
              {});
    CHECK_FALSE(says(verdict, "grant"));
    CHECK(says(verdict, "recognised no credentials"));
}

TEST_CASE("judge: a refused impersonation names only that permission") {
    const Verdict verdict = judge(
        exchange(Asked::list, 403,
                 status_body("users \\\"jane\\\" is forbidden: User \\\"bob\\\" cannot impersonate "
                             "resource \\\"users\\\" in API group \\\"\\\" at the cluster scope")),
        {});
    CHECK(says(verdict, "grant them the verb impersonate on that resource"));
    CHECK_FALSE(says(verdict, "list"));
}

TEST_CASE("judge: a 400 without a Status may come from something else than an API server") {
    CHECK(says(judge(exchange(Asked::list, 400, "<html>"), {}), "the right scheme?"));
    CHECK(says(judge(exchange(Asked::list, 400, status_body("no")), {}), "selectors for pods"));
}

TEST_CASE("judge: a response in another form than an API server's is marked as foreign") {
    const auto is_foreign = [](unsigned status, const std::string& body) {
        return judge(exchange(Asked::list, status, body), {}).failure.foreign_response;
    };
    for (const unsigned status : {400U, 403U, 422U}) {
        CHECK(is_foreign(status, "blocked"));
        // The text of an answer decides nothing: an API server may quote anything in it.
        CHECK_FALSE(is_foreign(status, status_body("is this the URL of a Kubernetes API server?")));
    }
    CHECK(is_foreign(302, ""));
    // API servers answer so, too: to an unknown path, or when they are overloaded.
    for (const unsigned status : {401U, 404U, 429U, 500U, 503U})
        CHECK_FALSE(is_foreign(status, "no"));
}

TEST_CASE("judge: a 200 of another content type is no answer, however it ends") {
    for (const Asked asked : all_requests) {
        Exchange x = exchange(asked);
        x.fields.use().content_type = "text/html\n";
        x.readable = false;
        x.events = 3;
        const Verdict verdict = judge(x, ended(errc::unexpected_content_type, "", 1h));
        CHECK(words(verdict) == "failed");
        CHECK(verdict.failed);
        CHECK(verdict.failure.ec == errc::unexpected_content_type);
        CHECK(verdict.failure.foreign_response);
        CHECK(verdict.failure.message ==
              "the server answered text/html instead of protobuf or JSON; is this the URL of a "
              "Kubernetes API server?");
        CHECK(words(judge(x, {})) == "failed");
    }
}

TEST_CASE("judge: an answer that is compressed is named as that") {
    for (const Asked asked : all_requests) {
        Exchange x = exchange(asked);
        x.fields.use().content_encoding = "br";
        x.readable = false;
        const Verdict verdict = judge(x, ended(errc::unexpected_content_type));
        CHECK(verdict.failure.ec == errc::unexpected_encoding);
        CHECK(says(verdict, "compressed (Content-Encoding: br)"));
        x.status = 500;
        x.error_text = "\x1f\x8b";
        CHECK(says(judge(x, {}), "HTTP 500: (compressed with br)"));
    }
}

TEST_CASE("judge: a final outcome counts, however the response ended") {
    const auto aborted = [] { return ended(boost::asio::error::operation_aborted); };
    Exchange watch = exchange(Asked::watch);
    watch.found.version = "503";
    CHECK(watch.has_verdict());
    CHECK(words(judge(watch, aborted())) == "went back to 503");
    watch.found.version.clear();
    watch.found.doubted = true;
    CHECK_FALSE(watch.has_verdict());
    CHECK(words(judge(watch, aborted())) == "doubted");
    Exchange probe = exchange(Asked::probe);
    probe.found.version = "7";
    CHECK(words(judge(probe, aborted())) == "probed 7");
    CHECK_FALSE(judge(probe, aborted()).failed);
}

TEST_CASE("judge: an answer that does not come in time, or stops, has a cause of its own") {
    const auto late = [](Asked asked, unsigned status) {
        return words(judge(exchange(asked, status), ended(errc::response_timeout)));
    };
    CHECK(late(Asked::list, 0) == "not in time");
    CHECK(late(Asked::list, 200) == "not in time");
    CHECK(late(Asked::probe, 0) == "not in time");
}

TEST_CASE("judge: a body that only resembles a list is reported by its content type") {
    Exchange x = exchange(Asked::list);
    x.fields.use().content_type = "text/plain";
    x.mistyped = true;
    CHECK(judge(x, ended(errc::malformed_response)).failure.ec == errc::unexpected_content_type);
    ExchangeEnd end;
    end.page = {"9", "", 3};
    CHECK(words(judge(x, end)) == "page 9");
}

TEST_CASE("judge: a list is complete, or it has failed with the words of who found out") {
    ExchangeEnd end;
    end.page = {"9", "token", 3};
    const Verdict page = judge(exchange(Asked::list), end);
    CHECK(words(page) == "page 9, more token");
    CHECK_FALSE(page.failure.ec);
    CHECK_FALSE(page.failed);
    CHECK(words(judge(exchange(Asked::probe), end)) == "probed 9");
    end.suspicious = true;
    CHECK(words(judge(exchange(Asked::list), end)) == "suspicious");
    for (const error_code ec :
         {make_error_code(errc::malformed_response), make_error_code(errc::truncated_response),
          make_error_code(errc::missing_resource_version),
          error_code(boost::asio::error::connection_reset)}) {
        end.failure = {ec, "why"};
        for (const unsigned status : {0U, 200U}) {
            const Verdict verdict = judge(exchange(Asked::next_page, status), end);
            CHECK(words(verdict) == (status == 0 ? "no answer" : "cut"));
            CHECK(verdict.failed);
            CHECK(verdict.failure.ec == ec);
            CHECK(verdict.failure.message == "why");
        }
    }
}

TEST_CASE("judge: pages without end and too many objects are failures with a name") {
    ExchangeEnd end;
    end.page_problem = errc::endless_list;
    const Verdict endless = judge(exchange(Asked::next_page), end);
    CHECK(words(endless) == "bad pages");
    CHECK(endless.failed);
    CHECK(endless.failure.ec == errc::endless_list);
    end.page_problem = errc::too_many_objects;
    CHECK(words(judge(exchange(Asked::list), end)) == "refused");
    CHECK(judge(exchange(Asked::list), end).failure.ec == errc::too_many_objects);
}

TEST_CASE("judge: a watch that breaks is a failure only if it was short and brought nothing") {
    struct Row {
        bool broken;
        std::uint32_t events;
        Duration life;
        std::string expected;
        bool failed;
    };
    for (const Row& row :
         {Row{false, 0, 0s, "ended", false}, Row{false, 0, 10s, "ended", false},
          Row{true, 0, 999ms, "ended, broken", true}, Row{true, 0, 1s, "ended, broken", false},
          Row{true, 1, 0s, "ended, broken", false}}) {
        CAPTURE(row.broken, row.events, row.life.count());
        Exchange x = exchange(Asked::watch);
        x.events = row.events;
        const error_code ec = row.broken ? make_error_code(errc::truncated_response) : error_code();
        const Verdict verdict = judge(x, ended(ec, "broken", row.life));
        CHECK(words(verdict) == row.expected);
        CHECK(verdict.failed == row.failed);
        CHECK(verdict.failure.ec == ec);  // counted in every case
        if (row.broken) CHECK(verdict.failure.message == (row.failed ? "broken" : ""));
    }
}

TEST_CASE("judge: the fifth short watch in a row is a failure, though each ended well") {
    Exchange x = exchange(Asked::watch);
    StreamRecord streams;
    for (int i = 0; i < 10; ++i) {
        const Verdict verdict = judge(x, ended({}));
        CHECK(words(verdict) == "ended");
        CHECK(verdict.failed == (i >= 4));
        CHECK((verdict.failure.over_with == Proof::steady_life) == (i >= 4));
        CHECK((verdict.failure.ec == errc::short_watches) == (i >= 4));
        streams.begin({});
        streams.end({});
        x.streams = streams.rows();
    }
    x.events = 1;
    x.advanced = true;
    CHECK_FALSE(judge(x, ended({})).failed);
}

TEST_CASE("judge: the third version in a row that expires at once is a failure") {
    Exchange x = exchange(Asked::watch, 410, status_body("too old"));
    StreamRecord streams;
    for (int i = 0; i < 4; ++i) {
        const Verdict verdict = judge(x, {});
        CHECK(words(verdict) == "expired");
        CHECK(verdict.failed == (i >= 2));
        CHECK((verdict.failure.over_with == Proof::long_life) == (i >= 2));
        streams.on_expiry(TimePoint(1h));
        x.streams = streams.rows();
    }
    streams.begin({});
    streams.end(TimePoint(1min));
    x.streams = streams.rows();
    CHECK_FALSE(judge(x, {}).failed);
}

TEST_CASE("judge: the second silent watch in a row is a failure, unless it brought something") {
    Exchange x = exchange(Asked::watch);
    StreamRecord streams;
    for (int i = 0; i < 3; ++i) {
        const Verdict verdict = judge(x, ended(errc::idle_timeout, "silent", 5min));
        CHECK(words(verdict) == "silent");
        CHECK(verdict.failed == (i >= 1));
        CHECK(verdict.failure.message == (i >= 1 ? "silent" : ""));
        streams.begin({});
        streams.end(TimePoint(5min));
        streams.on_silence();
        x.streams = streams.rows();
    }
    x.events = 1;
    CHECK_FALSE(judge(x, ended(errc::idle_timeout, "silent", 5min)).failed);
}

TEST_CASE("judge: a watch without an answer has failed, however long it took") {
    for (const error_code ec :
         {make_error_code(errc::connect_timeout), make_error_code(errc::idle_timeout),
          error_code(boost::asio::error::connection_refused),
          error_code(boost::asio::error::eof)}) {
        const Verdict verdict = judge(exchange(Asked::watch, 0), ended(ec, "why", 1h));
        const bool connected = ec == errc::idle_timeout || ec == boost::asio::error::eof;
        CHECK(words(verdict) == (connected ? "no answer" : "unreachable"));
        CHECK(verdict.failed);
        CHECK(verdict.failure.ec == ec);
        CHECK(verdict.failure.message == "why");
    }
}

TEST_CASE("judge: bytes that are no events are a failure even after events") {
    Exchange x = exchange(Asked::watch);
    x.events = 5;
    const Verdict verdict = judge(x, ended(errc::malformed_response, "not JSON", 1h));
    CHECK(words(verdict) == "malformed");
    CHECK(verdict.failed);
    CHECK(verdict.failure.message == "not JSON");
}

TEST_CASE("Exchange: the text of a refusal is kept up to 16 KiB, that of a 200 not at all") {
    Exchange refusal = exchange(Asked::list, 500);
    CHECK_FALSE(refusal.add_error_text("{"));
    CHECK_FALSE(refusal.add_error_text(std::string(16'000, 'x')));
    CHECK(refusal.add_error_text(std::string(16'000, 'x')) == errc::malformed_response);
    CHECK(refusal.error_text.size() == 16 * 1024);
    Exchange other = exchange(Asked::list, 200);
    CHECK(other.add_error_text("secret") == errc::unexpected_content_type);
    CHECK(other.error_text.empty());
}

// --- a streamed list ----------------------------------------------------------------------------

Exchange streamed(unsigned status = 200, bool from_version = false, std::string text = {}) {
    Exchange x = exchange(Asked::list, status, std::move(text));
    x.streamed = true;
    x.has_position = from_version;
    return x;
}

Verdict judge_event(std::int64_t code, bool from_version = false) {
    Exchange x = streamed(200, from_version);
    x.error_event.emplace();
    x.error_event->code = static_cast<unsigned>(code);
    return judge(x, {.failure = {errc::server_error, "an ERROR event"}});
}

TEST_CASE("Outcome: a server that refuses to list with a watch is no failure, it is sent a LIST") {
    for (const unsigned status : {400U, 403U, 404U, 405U, 406U, 422U}) {
        CAPTURE(status);
        for (const bool from_version : {false, true}) {
            const Verdict verdict = judge(
                streamed(status, from_version, status_body("sendInitialEvents: Forbidden")), {});
            CHECK(words(verdict) == "not streamed");
            CHECK_FALSE(verdict.failed);
            CHECK(says(verdict, "sendInitialEvents: Forbidden"));
            CHECK(words(judge_event(status, from_version)) == "not streamed");
        }
    }
    CHECK(words(judge_event(500)) == "not streamed");  // etcd without progress notifications
}

TEST_CASE("Outcome: what says nothing about lists with a watch is what it is of a LIST") {
    CHECK(words(judge(streamed(500), {})) == "failed");
    CHECK(words(judge(streamed(503), {})) == "no answer");
    CHECK(words(judge(streamed(504), {})) == "cut");
    CHECK(words(judge(streamed(429), {})) == "busy");
    CHECK(words(judge_event(429)) == "busy");
    const Verdict refused = judge(streamed(401), {});
    CHECK(refused.credentials_refused);
    CHECK(words(refused) == "credentials");
    CHECK(judge_event(401).credentials_refused);
    CHECK(words(judge(streamed(410, true), {})) == "expired");
    CHECK(words(judge_event(410, true)) == "expired");
    const std::string too_large = status_body(
        "Timeout", R"({"causes":[{"reason":"ResourceVersionTooLarge","message":"x"}]})");
    CHECK(words(judge(streamed(504, true, too_large), {})) == "too large");
    CHECK(words(judge(streamed(0), {.failure = {boost::asio::error::connection_refused, ""}})) ==
          "unreachable");
}

TEST_CASE("Outcome: a list without a version cannot expire, with a watch or not") {
    CHECK(words(judge(streamed(410), {})) == "not streamed");
    CHECK(words(judge_event(410)) == "not streamed");
}

TEST_CASE("Outcome: a stream that ends before its list is complete is a list that was cut") {
    const Verdict clean = judge(streamed(), {.life = 1s});
    CHECK(words(clean) == "cut");
    CHECK(clean.failed);
    CHECK(clean.failure.ec == errc::truncated_response);
    const Verdict broken =
        judge(streamed(), {.failure = {errc::truncated_response, ""}, .life = 59s});
    CHECK(words(broken) == "cut");
    // Another request would have the same result.
    CHECK(words(judge(streamed(), {.life = 1min})) == "not streamed");
    CHECK(words(judge(streamed(), {.failure = {errc::malformed_response, ""}, .life = 1s})) ==
          "cut");
}

TEST_CASE("Outcome: a stream whose list does not end, or begin, gives way to a LIST") {
    const Failure silence{errc::response_timeout, "silence"};
    CHECK(words(judge(streamed(), {.failure = silence, .life = 30s})) == "not streamed");
    CHECK(words(judge(streamed(0), {.failure = silence})) == "not streamed");
    const auto answered = [&](unsigned status) {
        const Verdict verdict = judge(streamed(status), {.failure = silence});
        return std::get<Machine::NotStreamed>(verdict.outcome).answered;
    };
    CHECK(answered(200));
    CHECK_FALSE(answered(0));
    CHECK_FALSE(judge(streamed(0), {.failure = silence}).failed);
}

TEST_CASE("Outcome: once its list is complete a stream is a watch") {
    Exchange x = streamed();
    x.purpose = Purpose::watch;
    CHECK(words(judge(x, {.life = 10s, .in_time = true})) == "ended, in time");
    CHECK(words(judge(x, {.failure = {errc::idle_timeout, ""}, .life = 90s})) == "silent");
    x = streamed();
    x.found.suspicious = true;
    CHECK(words(judge(x, {.failure = {boost::asio::error::operation_aborted, ""}})) ==
          "suspicious");
}

}  // namespace
}  // namespace k8s_sd::detail::outcome_tests
