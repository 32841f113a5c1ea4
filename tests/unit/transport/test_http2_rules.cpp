#include "k8s_sd/detail/transport/http2/http2_liveness.hpp"
#include "k8s_sd/detail/transport/http2/http2_request.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using Step = Http2Liveness::Step;

std::string text_of(const Http2Request& request) {
    std::string text;
    for (const Http2Field& field : request.fields) {
        ((text += field.name) += '=') += field.value;
        text += field.indexed ? ";" : "!";
    }
    return text;
}

TEST_CASE("translate_request(): the text of a request becomes fields") {
    const Http2Request get = translate_request(
        "GET /api/v1/pods?limit=1 HTTP/1.1\r\nHost: [::1]:6443\r\nUser-Agent: k8s_sd\r\n"
        "Accept: application/json\r\nAuthorization:  Bearer x:y \r\nConnection: close\r\n"
        "TE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n");
    CHECK(text_of(get) == ":method=GET;:scheme=https;:authority=[::1]:6443;"
                          ":path=/api/v1/pods?limit=1!User-Agent=k8s_sd;"
                          "Accept=application/json;Authorization=Bearer x:y!");
    CHECK(get.body.empty());
    const Http2Request put =
        translate_request("PUT /x HTTP/1.1\r\nHost: s\r\nContent-Length: 9\r\n\r\n{\r\n\r\n\"\":1");
    CHECK(text_of(put) == ":method=PUT;:scheme=https;:authority=s;:path=/x!Content-Length=9;");
    CHECK(put.body == "{\r\n\r\n\"\":1");
}

TEST_CASE("Http2Liveness: a PING after 30 s of silence, dead 15 s later") {
    const TimePoint since{};
    Http2Liveness alive(since);
    CHECK(alive.next_check() == since + 30s);
    CHECK(alive.check(since + 29s) == Step::wait);
    alive.on_bytes(since + 20s);
    CHECK(alive.next_check() == since + 50s);
    CHECK(alive.check(since + 50s) == Step::ping);
    CHECK(alive.next_check() == since + 65s);
    CHECK(alive.check(since + 64s) == Step::wait);
    SECTION("without a byte") { CHECK(alive.check(since + 65s) == Step::dead); }
    SECTION("any byte is an answer") {
        alive.on_bytes(since + 64s);
        CHECK(alive.check(since + 65s) == Step::wait);
        CHECK(alive.next_check() == since + 94s);
    }
}

TEST_CASE("Http2Liveness: never more than one PING in 10 s") {
    TimePoint now{};
    Http2Liveness alive(now);
    std::optional<TimePoint> pinged;
    for (int i = 0; i < 10'000; ++i) {
        now += 100ms;
        // The answers of a peer come at once, with old times at worst.
        if (alive.check(now) != Step::ping) continue;
        if (pinged) CHECK(now - *pinged >= 10s);
        pinged = now;
        alive.on_bytes(now - 30s);
    }
    CHECK(pinged);
}

}  // namespace
}  // namespace k8s_sd::detail
