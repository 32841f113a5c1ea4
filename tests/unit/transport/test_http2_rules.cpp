#include "k8s_sd/detail/transport/http2/http2_liveness.hpp"
#include "k8s_sd/detail/transport/http2/http2_request.hpp"
#include "k8s_sd/detail/transport/http2/reset_pacing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <deque>
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

TEST_CASE("ResetPacing: at most 100 resets a second, and the others wait in their order") {
    const auto all = [](std::int32_t) { return true; };
    const TimePoint since = TimePoint{} + 1h;
    ResetPacing resets;
    for (int i = 0; i < 100; ++i) CHECK(resets.admit(i, since));
    CHECK(resets.next_due() == TimePoint::max());
    for (int i = 100; i < 250; ++i) CHECK_FALSE(resets.admit(i, since + 500ms));
    CHECK_FALSE(resets.take(since + 999ms, all));
    REQUIRE(resets.next_due() == since + 1s);
    for (int i = 100; i < 200; ++i) CHECK(resets.take(since + 1s, all) == i);
    CHECK_FALSE(resets.take(since + 1s, all));
    CHECK(resets.next_due() == since + 2s);
    SECTION("there are 150 of them") {
        for (int i = 200; i < 250; ++i) CHECK(resets.take(since + 2s, all) == i);
        CHECK(resets.next_due() == TimePoint::max());
    }
    SECTION("a later one does not overtake them") {
        CHECK_FALSE(resets.admit(250, since + 2s));
        for (int i = 200; i < 251; ++i) CHECK(resets.take(since + 2s, all) == i);
        CHECK(resets.next_due() == TimePoint::max());
        CHECK(resets.admit(251, since + 2s));
    }
    SECTION("those that the server has ended take no part of the 100") {
        for (int i = 250; i < 400; ++i) CHECK_FALSE(resets.admit(i, since + 1s));
        const auto last = [](std::int32_t stream) { return stream >= 300; };
        for (int i = 300; i < 400; ++i) CHECK(resets.take(since + 2s, last) == i);
        CHECK(resets.next_due() == TimePoint::max());
    }
}

TEST_CASE("ResetPacing: no second has more than 100 resets, wherever it begins") {
    ResetPacing resets;
    std::deque<TimePoint> sent;
    TimePoint now = TimePoint{} + 1h;
    const auto all = [](std::int32_t) { return true; };
    const auto on_reset = [&] {
        sent.push_back(now);
        if (sent.size() > 101) sent.pop_front();
        if (sent.size() == 101) CHECK(now - sent.front() >= 1s);
    };
    std::int32_t stream = 0;
    // A window that began at the first reset would let 199 pass around its end.
    for (int i = 0; i < 3000; ++i) {
        const bool burst = i % 990 >= 980 || i % 37 == 0;
        for (int k = 0; k < (burst ? 40 : 0); ++k) {
            if (resets.admit(stream++, now)) on_reset();
        }
        while (resets.take(now, all)) on_reset();
        now += 1ms;
    }
    CHECK(resets.next_due() >= now);
    CHECK(resets.next_due() <= now + 1s);
}

}  // namespace
}  // namespace k8s_sd::detail
