#include "k8s_sd/detail/watch/exchange_times.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

TEST_CASE("ExchangeTimes: the life of a watch begins when it works, that of a list at its head") {
    ExchangeTimes times;
    times.begin(60s);
    CHECK(times.life(TimePoint{5s}) == 0s);
    times.on_sent(TimePoint{10s});
    times.on_head(TimePoint{12s});
    CHECK(times.response_time() == 2s);
    CHECK(times.life(TimePoint{15s}) == 3s);
    CHECK(times.watched(TimePoint{15s}) == 0s);
    times.begin_watch(TimePoint{14s});
    CHECK(times.life(TimePoint{15s}) == 1s);
    CHECK(times.watched(TimePoint{15s}) == 1s);
}

TEST_CASE("ExchangeTimes: an end at most 5 s before the requested timeout is in time") {
    ExchangeTimes times;
    times.begin(60s);
    times.on_head(TimePoint{100s});
    CHECK_FALSE(times.is_in_time(TimePoint{154s}));
    CHECK(times.is_in_time(TimePoint{155s}));
    CHECK(times.is_in_time(TimePoint{170s}));
}

TEST_CASE("ExchangeTimes: without a requested timeout, or without a head, no end is in time") {
    ExchangeTimes times;
    times.begin(0s);
    times.on_head(TimePoint{100s});
    CHECK_FALSE(times.is_in_time(TimePoint{500s}));
    times.begin(60s);
    CHECK_FALSE(times.is_in_time(TimePoint{500s}));
}

}  // namespace k8s_sd::detail
