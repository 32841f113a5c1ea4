#include "k8s_sd/detail/watch/initial_events.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start{24h};

InitialEventsPatience patience(Duration response_timeout = 75s) {
    WatchOptions options;
    options.response_timeout = response_timeout;
    InitialEventsPatience p(options);
    p.begin(start);
    return p;
}

TEST_CASE("Initial events: each object of the list gives the next one half a minute") {
    InitialEventsPatience p = patience();
    CHECK(p.deadline() == start + 30s);
    p.on_object(start + 20s);
    CHECK(p.deadline() == start + 50s);
}

TEST_CASE("Initial events: the silence allowed in a LIST is a limit, unless there is none") {
    CHECK(patience(5s).deadline() == start + 5s);
    CHECK(patience(0s).deadline() == start + 30s);
}

TEST_CASE(
    "Initial events: after the first change the end of the list must follow, whatever comes") {
    InitialEventsPatience p = patience();
    p.on_object(start + 10s);
    p.on_change(start + 15s);
    p.on_object(start + 30s);
    p.on_change(start + 40s);
    CHECK(p.deadline() == start + 45s);
    p.begin(start + 1min);
    p.on_object(start + 80s);
    CHECK(p.deadline() == start + 110s);
}

TEST_CASE("Initial events: ten minutes are enough for any list") {
    InitialEventsPatience p = patience();
    for (Duration t = 0s; t < 20min; t += 10s) p.on_object(start + t);
    CHECK(p.deadline() == start + 10min);
}

}  // namespace
}  // namespace k8s_sd::detail
