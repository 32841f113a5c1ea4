#include "k8s_sd/detail/client/server_memory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string_view>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{24h};

TEST_CASE("TransferRate: a network is slow below 16 MB a second, where it was measured") {
    struct {
        std::uint64_t bytes;
        Duration waited;
        bool slow;
    } const rows[] = {
        {100'000'000, 1s, false},  // a gigabit
        {16'000'000, 1s, false},
        {15'999'999, 1s, true},
        {1'000'000, 100ms, true},
        {1'000'000, 10ms, false},
        {1'000'000, 0s, false},
        {128 * 1024, 1s, true},
        {128 * 1024 - 1, 1h, false},  // servers do not compress smaller bodies
        {0, 1h, false},
    };
    for (const auto& row : rows) {
        CAPTURE(row.bytes, row.waited.count());
        TransferRate rate;
        CHECK_FALSE(rate.is_slow(start));
        rate.add(row.bytes, row.waited, start);
        CHECK(rate.is_slow(start) == row.slow);
    }
}

TEST_CASE("TransferRate: the last list counts, for an hour") {
    TransferRate rate;
    rate.add(1'000'000, 1s, start);
    CHECK(rate.is_slow(start + 59min));
    CHECK_FALSE(rate.is_slow(start + 1h));
    rate.add(1'000'000, 1s, start + 2h);
    rate.add(1'000, 1s, start + 2h);
    CHECK(rate.is_slow(start + 2h));
    rate.add(1'000'000, 1ms, start + 2h);
    CHECK_FALSE(rate.is_slow(start + 2h));
}

TEST_CASE("ListMemory: what a server cannot list with a watch is tried again a day later") {
    ListMemory memory;
    const auto streams = [&](Kind kind, Duration later) {
        return memory.of(kind, start + later).streams;
    };
    CHECK(streams(Kind::pod, 0s));
    memory.on_not_streamed(Kind::pod, true, start);
    CHECK_FALSE(streams(Kind::pod, 23h));
    CHECK_FALSE(streams(Kind::service, 23h));  // of the same server
    CHECK(streams(Kind::pod, 24h));
    memory.on_not_streamed(Kind::pod, false, start + 1h);  // less evidence
    CHECK_FALSE(streams(Kind::pod, 23h));
    memory.on_streamed(Kind::service);
    CHECK(streams(Kind::pod, 1h));
}

TEST_CASE("ListMemory: what may have been the server itself is tried again an hour later") {
    ListMemory memory;
    memory.on_not_streamed(Kind::pod, false, start);
    CHECK_FALSE(memory.of(Kind::pod, start + 59min).streams);
    CHECK(memory.of(Kind::pod, start + 1h).streams);
}

TEST_CASE("ListMemory: what the API server cannot list with a watch is tried again once it reports "
          "another version") {
    ListMemory memory;
    memory.on_not_streamed(Kind::pod, true, start);
    memory.on_plain_stream(start);
    CHECK(memory.on_drop_refused(start));
    CHECK_FALSE(memory.on_drop_refused(start));
    for (const char* version : {"v1.36.1", "v1.36.1", ""}) {
        memory.on_version(version);
        CHECK_FALSE(memory.of(Kind::service, start).streams);
    }
    memory.on_version("v1.37.0");
    const ListMemory::Known known = memory.of(Kind::service, start);
    CHECK((known.streams && known.compresses_streams && known.drops));
}

TEST_CASE("ListMemory: the version is requested while a feature is missing") {
    ListMemory memory;
    const auto due = [&](Duration later, std::uint64_t recoveries = 0) {
        return memory.take_version_check(recoveries, start + later);
    };
    CHECK_FALSE(due(0s));
    memory.on_not_streamed(Kind::pod, true, start);
    CHECK(due(0s));
    CHECK_FALSE(due(9min));
    CHECK(due(10min));
    CHECK(due(11min, 1));  // the server was away
    CHECK_FALSE(due(12min, 1));
    CHECK_FALSE(due(11min + 9s, 2));
    CHECK(due(11min + 10s, 2));
    CHECK_FALSE(due(25h, 3));
}

TEST_CASE("ListMemory: the kinds of an API group have one server") {
    const auto other = [](std::string_view group, std::string_view plural) {
        return other_kind({.kind = "Any", .group = group, .version = "v1", .plural = plural});
    };
    const Kind one = other("example.com", "ones");
    ListMemory memory;
    memory.on_not_streamed(one, true, start);
    CHECK_FALSE(memory.of(other("example.com", "twos"), start).streams);
    CHECK(memory.of(other("example.org", "ones"), start).streams);
    CHECK(memory.of(Kind::pod, start).streams);
}

TEST_CASE("ListMemory: a stream that has begun shows for a moment that others will") {
    ListMemory memory;
    CHECK_FALSE(memory.of(Kind::pod, start).streams_now);
    memory.on_stream_begun(Kind::pod, start);
    CHECK(memory.of(Kind::service, start + 9s).streams_now);
    CHECK_FALSE(memory.of(Kind::service, start + 10s).streams_now);
    memory.on_stream_begun(Kind::pod, start + 10s);
    SECTION("until the server was away") { memory.on_outage(); }
    SECTION("until it refuses one") { memory.on_not_streamed(Kind::service, true, start + 10s); }
    CHECK_FALSE(memory.of(Kind::pod, start + 10s).streams_now);
}

TEST_CASE("ListMemory: shapes and encodings are those of a kind, and expire") {
    ListMemory memory;
    memory.on_shape(Kind::pod, ListShape::whole, start);
    memory.on_json(Kind::pod, start + 1h);
    CHECK(memory.of(Kind::pod, start).shape == ListShape::whole);
    CHECK(memory.of(Kind::pod, start).json_until == start + 1h);
    CHECK_FALSE(memory.of(Kind::service, start).shape);
    CHECK_FALSE(memory.of(Kind::service, start).json_until);
    CHECK_FALSE(memory.of(Kind::pod, start + 1h).json_until);
    CHECK_FALSE(memory.of(Kind::pod, start + 24h).shape);
}

TEST_CASE("ListMemory: a server that begins to answer late is given time, for a day") {
    ListMemory memory;
    memory.on_answer(3s, start);
    CHECK_FALSE(memory.of(Kind::pod, start).slow);
    memory.on_answer(4s, start);
    CHECK(memory.of(Kind::pod, start + 23h).slow);
    CHECK_FALSE(memory.of(Kind::pod, start + 24h).slow);
}

TEST_CASE("ListMemory: what does not come through compressed is asked for as it is") {
    ListMemory memory;
    CHECK(memory.of(Kind::pod, start).compresses);
    memory.on_not_compressed(start);
    CHECK_FALSE(memory.of(Kind::pod, start + 59min).compresses);
    CHECK(memory.of(Kind::pod, start + 1h).compresses);
}

}  // namespace
}  // namespace k8s_sd::detail
