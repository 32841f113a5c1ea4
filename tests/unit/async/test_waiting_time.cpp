#include "k8s_sd/detail/async/host_handle.hpp"
#include "support/manual_clock.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

TEST_CASE("WaitingTime: the parts of a diff count once, and what comes meanwhile waits from then") {
    const auto clock = std::make_shared<ManualClock>();
    const auto metrics = std::make_shared<Metrics>();
    detail::WaitingTime waiting(clock, metrics);
    waiting.note(true, false);
    clock->advance(1s);
    waiting.delivered(clock->now(), true, true);
    CHECK(metrics->delivery_latency.sum() == 0s);
    clock->advance(1s);
    waiting.note(true, true);
    clock->advance(1s);
    waiting.delivered(clock->now(), true, false);
    CHECK(metrics->delivery_latency.sum() == 3s);
    waiting.delivered(clock->now(), false, false);
    CHECK(metrics->delivery_latency.sum() == 4s);

    // Nothing waits any more.
    clock->advance(1h);
    waiting.delivered(clock->now(), false, false);
    CHECK(metrics->delivery_latency.sum() == 4s);
}
