#include "k8s_sd/detail/watch/watch_idle_timeout.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{24h};

InitialEventsTimeout timeout(Duration response_timeout = 75s) {
    WatchOptions options;
    options.response_timeout = response_timeout;
    InitialEventsTimeout p(options);
    p.begin(start);
    return p;
}

TEST_CASE("Initial events: each object of the list gives the next one ten seconds") {
    InitialEventsTimeout p = timeout();
    CHECK(p.deadline() == start + 10s);
    p.on_object(start + 8s);
    CHECK(p.deadline() == start + 18s);
}

TEST_CASE("Initial events: where there is no other form left, that is half a minute") {
    InitialEventsTimeout p = timeout();
    p.begin(start, false);
    CHECK(p.deadline() == start + 30s);
}

TEST_CASE("Initial events: the silence allowed in a LIST is a limit, unless there is none") {
    CHECK(timeout(5s).deadline() == start + 5s);
    CHECK(timeout(0s).deadline() == start + 10s);
}

TEST_CASE(
    "Initial events: after the first change the end of the list must follow, whatever comes") {
    InitialEventsTimeout p = timeout();
    p.on_object(start + 5s);
    p.on_change(start + 8s);
    p.on_object(start + 12s);
    p.on_change(start + 16s);
    CHECK(p.deadline() == start + 18s);
    p.begin(start + 1min);
    p.on_object(start + 65s);
    CHECK(p.deadline() == start + 75s);
}

TEST_CASE("Initial events: objects that come one by one are none of a list, for half a minute") {
    for (const Duration each : {500ms, 1000ms, 5000ms, 9000ms}) {
        InitialEventsTimeout p = timeout();
        TimePoint now = start;
        while (p.deadline() > now) p.on_object(now += each);
        CHECK(now - start <= 45s);
    }
}

TEST_CASE("Initial events: a long list has its time, of at most ten minutes") {
    InitialEventsTimeout p = timeout();
    TimePoint now = start;
    for (int i = 0; i < 40'000; ++i) {
        p.on_object(now += 10ms);
        REQUIRE(p.deadline() > now);
    }
    while (p.deadline() > now) p.on_object(now += 10ms);
    CHECK(now - start == 10min);
}

TEST_CASE("Initial events: the time in which the host reads nothing does not count") {
    InitialEventsTimeout p = timeout();
    p.on_object(start + 5s);
    p.on_blocked(100s);
    CHECK(p.deadline() == start + 115s);
}

}  // namespace
}  // namespace k8s_sd::detail
